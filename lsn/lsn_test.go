package lsn_test

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

func TestParseReadsTwoHexadecimalNumbers(t *testing.T) {
	for text, want := range map[string]lsn.LSN{
		"0/0":               0,
		"0/1":               1,
		"1/0":               1 << 32,
		"16/B374D848":       0x16_B374D848,
		"16/b374d848":       0x16_B374D848,
		"1/02":              0x1_00000002,
		"00000001/00000002": 0x1_00000002,
		"0/04000060":        0x4000060,
		"FFFFFFFF/FFFFFFFF": math.MaxUint64,
		"7FFFFFFF/FFFFFFFF": math.MaxInt64,
		"80000000/0":        1 << 63,
	} {
		got, err := lsn.Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %#x, %v, want %#x", text, uint64(got), err, uint64(want))
		}
	}
}

// refused are texts near the grammar. The first five are accepted by at least
// one other parser, and "100000000/0" is the worst: cut to 32 bits it is the
// zero LSN, which every replica has replayed.
var refused = []string{
	"16/B374D848junk", " 1/2", "1/ 2", "0/100000000", "100000000/0",
	"", "/", "1", "1/", "/1", "1//2", "1/2/3", "1/2 ", "1 /2", "1/2\n", "\t1/2",
	"-1/2", "1/-2", "+1/2", "1/+2", "0x1/2", "1/0x2", "g/0", "0/g", "1_0/2",
	"1/2\x00", "\x001/2", "1\\2", "1:2", "1.2", "000000001/2", "1/000000002",
	"１/2", "1⁄2", "1/\u0662", "\xff/1", "1/\xff", "NULL", "invalid", strings.Repeat("1", 1000),
}

func TestParseRefusesEverythingElse(t *testing.T) {
	for _, text := range refused {
		got, err := lsn.Parse(text)
		var parseErr *lsn.ParseError
		if !errors.As(err, &parseErr) {
			t.Errorf("Parse(%q) = %v, %v, want a *ParseError", text, got, err)
			continue
		}
		if got != 0 {
			t.Errorf("Parse(%q) = %v beside its error, want 0", text, got)
		}
		if len(parseErr.Input) > 40 || !strings.HasPrefix(text, parseErr.Input) {
			t.Errorf("Parse(%q) reports %q, want at most its first 40 bytes", text, parseErr.Input)
		}
		if parseErr.Reason == "" || !strings.HasPrefix(err.Error(), "pgryw: invalid LSN ") {
			t.Errorf("Parse(%q) says %q", text, err)
		}
	}
}

func TestStringIsUpperCaseWithoutLeadingZeros(t *testing.T) {
	for l, want := range map[lsn.LSN]string{
		0:              "0/0",
		0x4000060:      "0/4000060",
		0x16_B374D848:  "16/B374D848",
		0xA_00000000:   "A/0",
		0xABCDEF:       "0/ABCDEF",
		math.MaxUint64: "FFFFFFFF/FFFFFFFF",
	} {
		if got := l.String(); got != want {
			t.Errorf("LSN(%#x).String() = %q, want %q", uint64(l), got, want)
		}
	}
}

func TestTextAndJSONRoundTrip(t *testing.T) {
	type message struct {
		Seen  lsn.LSN
		Nodes map[lsn.LSN]string
	}
	in := message{Seen: 0x16_B374D848, Nodes: map[lsn.LSN]string{1: "a"}}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), `{"Seen":"16/B374D848","Nodes":{"0/1":"a"}}`; got != want {
		t.Errorf("json.Marshal = %s, want %s", got, want)
	}
	var out message
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out.Seen != in.Seen || out.Nodes[1] != "a" {
		t.Errorf("json.Unmarshal(%s) = %+v, want %+v", text, out, in)
	}
}

func TestUnmarshalTextLeavesTheLSNAloneOnError(t *testing.T) {
	l := lsn.LSN(7)
	if err := l.UnmarshalText([]byte("7/")); err == nil {
		t.Error("UnmarshalText accepted 7/")
	}
	if l != 7 {
		t.Errorf("UnmarshalText changed the LSN to %v on error", l)
	}
}

func TestScanTakesTextOnlyAndNeverNULL(t *testing.T) {
	for _, src := range []any{"1/2", []byte("1/2")} {
		var l lsn.LSN
		if err := l.Scan(src); err != nil || l != 0x1_00000002 {
			t.Errorf("Scan(%T) = %v, %v", src, l, err)
		}
	}
	for _, src := range []any{nil, int64(1), uint64(1), 1.5, true, "", []byte(nil), "1/2 ", []byte("x")} {
		l := lsn.LSN(7)
		err := l.Scan(src)
		if err == nil || !strings.HasPrefix(err.Error(), "pgryw: ") {
			t.Errorf("Scan(%#v) = %v, want an error of pgryw", src, err)
		}
		if l != 7 {
			t.Errorf("Scan(%#v) changed the LSN to %v on error", src, l)
		}
	}
}

func TestValueIsTheText(t *testing.T) {
	got, err := lsn.LSN(0x16_B374D848).Value()
	if err != nil || got != "16/B374D848" {
		t.Errorf("Value() = %v, %v, want the text", got, err)
	}
}

// seeds are the starting points of both fuzz tests.
var seeds = append([]string{
	"0/0", "16/B374D848", "16/b374d848", "00000001/00000002", "FFFFFFFF/FFFFFFFF", "1/02",
}, refused...)

var grammar = regexp.MustCompile(`\A([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})\z`)

// FuzzParse holds Parse to the grammar, written down a second time as a
// regular expression, and to its inverse, String.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := lsn.Parse(text)
		halves := grammar.FindStringSubmatch(text)
		if (err == nil) != (halves != nil) {
			t.Fatalf("Parse(%q) = %v, %v", text, got, err)
		}
		if err != nil {
			if parseErr := (*lsn.ParseError)(nil); !errors.As(err, &parseErr) {
				t.Fatalf("Parse(%q) fails with %T", text, err)
			}
			return
		}
		want := parseHalf(t, halves[1])<<32 | parseHalf(t, halves[2])
		if uint64(got) != want {
			t.Fatalf("Parse(%q) = %#x, want %#x", text, uint64(got), want)
		}
		again, err := lsn.Parse(got.String())
		if err != nil || again != got {
			t.Fatalf("Parse(%q) = %v, %v after printing %q", got.String(), again, err, text)
		}
		if strings.ToUpper(text) != got.String() && !strings.HasPrefix(text, "0") && !strings.Contains(text, "/0") {
			t.Fatalf("%q is printed as %q", text, got)
		}
	})
}

func parseHalf(t *testing.T, digits string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParseOfAGoodTextDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if _, err := lsn.Parse("16/B374D848"); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("Parse allocates %v times, want 0", n)
	}
}
