package oracle

import "testing"

// texts compares texts until enough of them are statements, and fails at each
// that is taken for more than it is, and if too few are statements.
func texts(t *testing.T, o *Oracle, tally *Tally, parsedCount int, next func() string) {
	t.Helper()
	failures := 0
	for tally.Parsed < parsedCount {
		if tally.Rejected > 20*(parsedCount+1000) {
			t.Fatalf("got %d statements in %d texts", tally.Parsed, tally.Parsed+tally.Rejected)
		}
		sql := next()
		if why := tally.Compare(o, sql); why != "" {
			t.Errorf("%q: %s", sql, why)
			if failures++; failures == 20 {
				t.Fatal("and perhaps more")
			}
		}
	}
}

func TestGeneratedStatementsAreNeverTakenForMoreThanTheyAre(t *testing.T) {
	t.Parallel()
	const parsed, seed = 100_000, 1
	g := NewGenerator(seed)
	var tally Tally
	texts(t, New(functions), &tally, parsed, g.Statement)
	report(t, &tally, 10)
}

func TestMutatedStatementsAreNeverTakenForMoreThanTheyAre(t *testing.T) {
	t.Parallel()
	const parsed, seed = 10_000, 2
	seeds, m, g := described(t), NewMutator(seed, mutations...), NewGenerator(seed)
	var tally Tally
	n := 0
	texts(t, New(functions), &tally, parsed, func() string {
		n++
		sql := seeds[n%len(seeds)]
		if n%5 == 0 {
			sql = g.Statement()
		}
		if mutated, err := m.Mutate(sql); err == nil {
			sql = mutated
		}
		return sql
	})
	report(t, &tally, 10)
}

// mutations are tokens that change what the text around them is.
var mutations = []string{
	"(", ")", ",", ".", ";", "::", "'", "$$", "/*", "*/", "--\n", "as", "on", "with", "select", "into", "for", "update", "share",
	"insert", "delete", "from", "values", "table", "explain", "analyze", "temp", "hold", "local", "session", "set", "all",
	"transaction", "execute", "prepare", "do_it", "pg_advisory_lock", `"pg_advisory_lock"`, "set_config", "filter", "over", "join",
}
