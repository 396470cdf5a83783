package router

import (
	"strings"
	"testing"
)

func FuzzClassify(f *testing.F) {
	for _, d := range describedStatements(f) {
		f.Add(d.sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s := Classify(sql, nil)
		if s.Class == ClassRead {
			mustRead(t, sql, s)
		}
		if both := Classify(sql+"\n;DELETE FROM t", nil); both.Class == ClassRead {
			t.Errorf("%q: a read, with a DELETE behind it", sql)
		}
		if both := Classify("DELETE FROM t;"+sql, nil); both.Class == ClassRead {
			t.Errorf("%q: a read, with a DELETE ahead of it", sql)
		}
		for _, strings := range []Strings{StringsUnknown, StringsStandard, StringsBackslash} {
			sameWhenApart(t, sql, &Env{Strings: strings})
		}
		Functions(sql, &Env{Functions: catalog})
	})
}

// mustRead tells what is true of every read.
func mustRead(t *testing.T, sql string, s Statement) {
	t.Helper()
	if !s.Single || s.Starts != 0 || s.Ends != 0 || s.Captures() {
		t.Errorf("%q: a read that is %+v", sql, s)
	}
	for _, strings := range []Strings{StringsStandard, StringsBackslash} {
		if other := Classify(sql, &Env{Strings: strings}); other != s {
			t.Errorf("%q: a read, but %+v under %d", sql, other, strings)
		}
	}
	x := scanner{text: strings.TrimPrefix(sql, "\uFEFF")}
	before := kindEnd
	for tok := x.next(); tok.kind != kindEnd; tok = x.next() {
		word := x.text[tok.from:tok.to]
		if before != kindDot && (tok.kind == kindInto || tok.kind == kindWrite && before != kindWord) {
			t.Errorf("%q: a read with %s", sql, word)
		}
		before = tok.kind
	}
}

// sameWhenApart tells that blanks and comments between the tokens of a text
// change nothing.
func sameWhenApart(t *testing.T, sql string, env *Env) {
	t.Helper()
	want := Classify(sql, env)
	switch want.Why {
	case CauseUnclosed, CauseEncoding, CauseLength:
		return // where its tokens end is not known
	}
	text := strings.TrimPrefix(sql, "\uFEFF")
	x := scanner{text: text, strings: env.Strings}
	var apart strings.Builder
	for from := 0; ; from = x.at {
		tok := x.next()
		apart.WriteString(text[from:x.at])
		if tok.kind == kindEnd {
			apart.WriteString(text[x.at:])
			break
		}
		apart.WriteString(" /* - */ ")
	}
	if got := Classify(apart.String(), env); got != want {
		t.Errorf("%q: got %+v, want %+v as of %q", apart.String(), got, want, sql)
	}
}
