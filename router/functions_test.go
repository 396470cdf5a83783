package router

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryBuiltInFunctionIsFoundByItsName(t *testing.T) {
	count := 0
	for length, table := range builtins {
		for at := 0; at < len(table); at += length + 1 {
			name, want := table[at:at+length], effect(table[at+length])
			if got := builtin([]byte(name)); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			count++
		}
	}
	if count < 2500 {
		t.Errorf("got %d functions, want those of a server", count)
	}
}

func TestANameThatIsNotBuiltInIsNotFound(t *testing.T) {
	for _, name := range []string{"", "a", "zz", "lowe", "lowerr", "LOWER", "pg_advisory_loc", "zzzzzz", strings.Repeat("x", 63), strings.Repeat("x", 64)} {
		if got := builtin([]byte(name)); got != effectAbsent {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

var catalog = NewCatalog([]Function{
	{"public", "fine", 's'},
	{"public", "exact", 'i'},
	{"public", "rough", 'v'},
	{"public", "mixed", 's'},
	{"app", "mixed", 'v'},
	{"app", "lower", 'v'},
	{"app", "upper", 'i'},
	{"public", "odd", '?'},
	{"public", "Fine", 'v'},
	{"public", "join", 'v'},
	{"public", "json_value", 'v'},
	{"public", "füß", 's'},
	{"pg_catalog", "random", 'v'},
	{"pg_catalog", "brand_new", 's'},
	{"pg_catalog", "pg_file_write", 'v'},
	{"public", "pg_prewarm", 'v'},
})

func TestACallIsJudgedByTheCatalog(t *testing.T) {
	for _, tt := range []struct {
		sql   string
		class Class
		why   Cause
	}{
		{"SELECT fine(1), exact(2), FINE(3)", ClassRead, CauseVerb},
		{"SELECT public.fine(1), PUBLIC.Fine(2)", ClassRead, CauseVerb},
		{"SELECT rough(1)", ClassVolatile, CauseFunction},
		{`SELECT "Fine"(1)`, ClassVolatile, CauseFunction},
		{`SELECT "fine"(1)`, ClassRead, CauseVerb},
		{"SELECT odd(1)", ClassVolatile, CauseFunction},
		{"SELECT unheard(1)", ClassVolatile, CauseFunction},
		{"SELECT mixed(1)", ClassVolatile, CauseFunction},
		{"SELECT public.mixed(1)", ClassRead, CauseVerb},
		{"SELECT app.mixed(1)", ClassVolatile, CauseFunction},
		{"SELECT other.fine(1)", ClassVolatile, CauseFunction},
		{"SELECT db.public.fine(1)", ClassVolatile, CauseFunction},
		// A user's function may hide the built-in one.
		{"SELECT lower('A')", ClassVolatile, CauseFunction},
		{"SELECT pg_catalog.lower('A')", ClassRead, CauseVerb},
		{"SELECT upper('a'), app.upper('a')", ClassRead, CauseVerb},
		{"SELECT app.pg_advisory_lock(1)", ClassVolatile, CauseFunction},
		// What pg_catalog says of a built-in one is known better here.
		{"SELECT random(), pg_catalog.random()", ClassRead, CauseVerb},
		{"SELECT pg_catalog.brand_new()", ClassRead, CauseVerb},
		{"SELECT pg_catalog.pg_file_write('a', 'b', true)", ClassWrite, CauseFunction},
		{"SELECT pg_prewarm('t')", ClassWrite, CauseFunction},
		{"SELECT (t).rough FROM t", ClassVolatile, CauseFunction},
		{"SELECT (t).fine FROM t", ClassRead, CauseVerb},
		{"SELECT json_value(a, '$')", ClassVolatile, CauseFunction},
		{"SELECT * FROM a JOIN (SELECT 1) b ON true", ClassRead, CauseVerb},
		{`SELECT "füß"(1)`, ClassRead, CauseVerb},
		{"SELECT füß(1)", ClassVolatile, CauseFunction},
		// Not even behind an alias is a known function overlooked.
		{"SELECT * FROM (VALUES (1)) rough(a)", ClassVolatile, CauseFunction},
		{"SELECT * FROM (VALUES (1)) unheard(a)", ClassRead, CauseVerb},
	} {
		if s := Classify(tt.sql, &Env{Functions: catalog}); s.Class != tt.class || s.Why != tt.why {
			t.Errorf("%q: got %v, %v, want %v, %v", tt.sql, s.Class, s.Why, tt.class, tt.why)
		}
	}
}

func TestFunctionsTellsEveryCallAndWhatItDoes(t *testing.T) {
	const sql = `SELECT lower(a), s.F(b), "G"(1), pg_catalog.now(), nextval('s'), pg_backend_pid(), rough(2),
		pg_advisory_lock(3), set_config('a', 'b', true), ts_stat('q') FROM t AS x(c, d) WHERE e IN (1)`
	want := []Call{
		{"", "lower", "volatile"},
		{"s", "f", "unknown"},
		{"", "G", "unknown"},
		{"pg_catalog", "now", "reads"},
		{"", "nextval", "writes"},
		{"", "pg_backend_pid", "server"},
		{"", "rough", "volatile"},
		{"", "pg_advisory_lock", "acts"},
		{"", "set_config", "setting"},
		{"", "ts_stat", "opaque"},
	}
	if got := Functions(sql, &Env{Functions: catalog}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Functions("SELECT 1", nil); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}
