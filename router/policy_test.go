package router

import (
	"encoding"
	"fmt"
	"strings"
	"testing"
)

// option is what every enum of a Policy offers.
type option interface {
	fmt.Stringer
	encoding.TextMarshaler
}

func TestTheZeroValueOfEveryPolicyEnumIsItsDefault(t *testing.T) {
	var p Policy
	for _, tt := range []struct {
		got  option
		want string
	}{
		{p.Route, "auto"},
		{p.Mode, "strict"},
		{p.Scope, "db"},
		{p.ReadOnlyTx, "replica"},
		{p.Volatile, "primary"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%T: got %q, want %q", tt.got, got, tt.want)
		}
	}
}

func TestEveryWordOfAPolicyEnumComesBackAsItsValue(t *testing.T) {
	comesBack[Route](t, "auto", "hinted", "off")
	comesBack[Mode](t, "strict", "bounded", "relaxed")
	comesBack[Scope](t, "db", "conn")
	comesBack[ReadOnlyTx](t, "replica", "primary")
	comesBack[Volatile](t, "primary", "replica")
}

// comesBack tells that the words are those of the values 0, 1 and so on of T,
// and that there are no others.
func comesBack[T interface {
	~uint8
	option
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, words ...string) {
	t.Helper()
	for i, word := range words {
		var v T
		if err := P(&v).UnmarshalText([]byte(word)); err != nil {
			t.Errorf("%T: %q: %v", v, word, err)
		}
		if got, want := v, T(i); got != want {
			t.Errorf("%T: %q is %d, want %d", v, word, got, want)
		}
		if text, err := v.MarshalText(); err != nil || string(text) != word || v.String() != word {
			t.Errorf("%T: %q is written as %q, %q, %v", v, word, text, v.String(), err)
		}
	}

	beyond := T(len(words))
	if _, err := beyond.MarshalText(); err == nil || beyond.String() != "invalid" {
		t.Errorf("%T: %d is written as %q, %v; want an error", beyond, beyond, beyond.String(), err)
	}

	for _, word := range []string{"", "nothing", strings.ToUpper(words[0]), " " + words[0]} {
		kept := T(1)
		err := P(&kept).UnmarshalText([]byte(word))
		want := "pgryw: the value must be one of " + strings.Join(words, ", ")
		if err == nil || err.Error() != want {
			t.Errorf("%T: %q: got error %v, want %q", kept, word, err, want)
		}
		if kept != 1 {
			t.Errorf("%T: %q changed the value to %d", kept, word, kept)
		}
	}
}
