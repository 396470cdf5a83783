package router

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestEveryByteIsALetterAtEachOfTheEightPlacesOrAtNone(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			text := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("Z", 7-at)
			want := at
			if inWord[c] {
				want = 8
			}
			if got := lettersIn(load(text)); got != want {
				t.Errorf("%q: got %d letters, want %d", text, got, want)
			}
		}
	}
}

func TestLettersEndWhereTheyEndByteByByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		text := make([]byte, random.IntN(40))
		for i := range text {
			text[i] = "aZ_9$é (,'"[random.IntN(11)]
		}
		from := random.IntN(len(text) + 1)
		want := from
		for want < len(text) && inWord[text[want]] {
			want++
		}
		if got := lettersAt(string(text), from); got != want {
			t.Fatalf("%q from %d: got %d, want %d", text, from, got, want)
		}
	}
}

func TestAWordThatActsIsToldWhateverItsCaseAndWhatFollows(t *testing.T) {
	for word, want := range map[string]kind{
		"for": kindFor, "into": kindInto, "with": kindWith, "insert": kindWrite, "update": kindWrite, "delete": kindWrite,
		"merge": kindWrite, "setseed": kindSystem, "pg_a": kindSystem, "pg_advisory_lock": kindSystem,
		"pg_": kindWord, "fo": kindWord, "fora": kindWord, "f": kindWord, "form": kindWord, "inserts": kindWord,
		"setseeds": kindWord, "updates_": kindWord, "pga": kindWord, "for_each_one": kindWord,
	} {
		for _, written := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:]} {
			for _, behind := range []string{"", " ", "(", " a long text behind it"} {
				x := scanner{text: written + behind}
				if got := x.next(); got.kind != want || int(got.to) != len(word) {
					t.Errorf("%q: got %v up to %d, want %v", x.text, got.kind, got.to, want)
				}
			}
		}
	}
}
