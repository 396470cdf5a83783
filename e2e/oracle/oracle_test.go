package oracle

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/router"
)

// functions are those that the generated statements call beside the server's.
var functions = router.NewCatalog([]router.Function{
	{Schema: "public", Name: "left", Volatility: 'i'},
	{Schema: "public", Name: "do_it", Volatility: 'v'},
})

// described returns the texts that the router's own tests describe.
func described(tb testing.TB) []string {
	tb.Helper()
	file, err := os.ReadFile("../../router/testdata/statements.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(file)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(fields) < 4 {
			continue
		}
		text := fields[3]
		if strings.HasPrefix(text, `"`) {
			if text, err = strconv.Unquote(text); err != nil {
				tb.Fatalf("%s: %v", line, err)
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// report says what a comparison has found, and fails if too many reads were kept
// from the replicas.
func report(t *testing.T, tally *Tally, percent int) {
	t.Helper()
	t.Logf("%d statements, %d of them reads, %d of these wasted; %d texts are no statements",
		tally.Parsed, tally.Reads, tally.Wasted(), tally.Rejected)
	for _, why := range tally.Reasons() {
		w := tally.Waste[why]
		t.Logf("%d wasted because of %v, such as %q", w.Count, why, w.Examples)
	}
	if tally.Wasted()*100 > tally.Reads*percent {
		t.Errorf("got %d of %d reads wasted, want %d %% at most", tally.Wasted(), tally.Reads, percent)
	}
}

func TestDescribedStatementsAreWhatTheTreeSays(t *testing.T) {
	t.Parallel()
	oracle := New(nil)
	var tally Tally
	for _, sql := range described(t) {
		if why := tally.Compare(oracle, sql); why != "" {
			t.Errorf("%q: %s", sql, why)
		}
	}
	if tally.Reads < 100 {
		t.Errorf("got %d reads, want 100 or more", tally.Reads)
	}
	report(t, &tally, 100)
}

func FuzzStatementsAreNeverTakenForMoreThanTheyAre(f *testing.F) {
	for _, sql := range described(f) {
		f.Add(sql)
	}
	f.Add("SELECT a()\xff0")
	oracle := New(functions)
	f.Fuzz(func(t *testing.T, sql string) {
		var tally Tally
		if why := tally.Compare(oracle, sql); why != "" {
			t.Errorf("%q: %s", sql, why)
		}
	})
}
