package router

import (
	"strings"
	"testing"
)

func TestClassifyAllocatesNothing(t *testing.T) {
	env := &Env{Functions: catalog}
	for _, d := range describedStatements(t) {
		if n := testing.AllocsPerRun(10, func() { Classify(d.sql, env) }); n != 0 {
			t.Errorf("%q: got %v allocations, want 0", d.sql, n)
		}
	}
}

// hostile are texts that are dear to read, by what is repeated in them.
var hostile = []struct {
	name, start, again, end string
}{
	{"comment openings", "SELECT 1 ", "/*", ""},
	{"comment ends", "SELECT 1 /*", "*", ""},
	{"nested comments", "SELECT ", "/*/**/*/", "1"},
	{"line comments", "SELECT 1", "--\n", ""},
	{"parentheses", "SELECT ", "(", "1"},
	{"calls", "SELECT 1", ",lower(a)", ""},
	{"unknown calls", "SELECT 1", ",f(a)", ""},
	{"long names", "SELECT 1", "," + strings.Repeat("f", nameLimit) + "(a)", ""},
	{"catalog names", "SELECT 1", ",pg_a", ""},
	{"qualified calls", "SELECT 1", ",s.f(a)", ""},
	{"attributes", "SELECT 1", ",(a).b", ""},
	{"hints", "SELECT 1 /*", "pgryw:", "*/"},
	{"colons", "SELECT 1 --", ":", ""},
	{"dollars", "SELECT ", "$a", ""},
	{"dollar tags", "SELECT $a$", "$a", "$a$"},
	{"quotes", "SELECT '", "''", "'"},
	{"backslashes", "SELECT '", "\\", "\\'"},
	{"double quotes", `SELECT "`, `""`, `"`},
	{"strings apart", "SELECT ", "E'a' --\n ", ""},
	{"strings continued", "SELECT ", "E'a'\n", ""},
	{"statements", "", "SELECT 1;", ""},
	{"values", "INSERT INTO t VALUES (1,'a')", ",(1,'a')", ""},
	{"common table expressions", "WITH a(b) AS (SELECT 1)", ",a(b) AS (SELECT 1)", "SELECT 1"},
}

func BenchmarkClassify(b *testing.B) {
	run := func(name, sql string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				Classify(sql, nil)
			}
		})
	}
	run("typical", `SELECT id, name, price FROM product WHERE category = $1 AND price < $2 ORDER BY id`)
	run("long", "SELECT 1"+strings.Repeat(", a.column_name, 'some text in a string', lower(b.other_column), 12345", 2000))
	for _, h := range hostile {
		run(h.name, h.start+strings.Repeat(h.again, 1<<17/len(h.again))+h.end)
	}
}
