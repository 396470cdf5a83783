package wire

import "testing"

func TestACopyIsFoundWhereAStatementMayBegin(t *testing.T) {
	for text, want := range map[string]bool{
		"copy t from stdin":                                 true,
		"COPY t TO STDOUT":                                  true,
		"\n\t copy t from stdin\x00":                        true,
		"CoPy\n(select 1)\nto\nStdOut;":                     true,
		"insert into t values (1);copy t from stdin":        true,
		"insert into t values (1) ; copy t from stdin":      true,
		"-- comment\ncopy t from stdin":                     true,
		"-- comment\rcopy t from stdin":                     true,
		"/* comment */copy t from stdin":                    true,
		"/* comment */ copy t from stdin":                   true,
		"copy t from '/tmp/f'; copy t from stdin":           true,
		"select 1 as copy; copy t to stdout":                true,
		"copy t from '/tmp/stdin_of_copy'":                  false,
		"copy t from program 'p'":                           false,
		"select 'copy t from stdin'":                        false,
		"select v from t where v like '%copy%stdin%'":       false,
		"select copy from t where stdout":                   false,
		"select copies from t; select stdin from t":         false,
		"insert into t select stdin from copy":              false,
		"copyt from stdin":                                  false,
		"_copy t from stdin":                                false,
		"écopy t from stdin":                                false,
		"copy":                                              false,
		"":                                                  false,
		"select stdin; copy t from 'f'":                     false,
		"select 1 /* copy t from stdin */":                  false,
		"select 1; /* in a comment that begins a statement": false,
	} {
		if got := mayCopy([]byte(text)); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}
