package router

import "math/bits"

// A word is read eight bytes at a time. These have the same in each of the eight.
const (
	every     = 0x0101010101010101
	lowSeven  = 0x7f * every
	highBit   = 0x80 * every
	lowerCase = 0x20 * every
)

// eight returns the eight bytes of s at i, the first in the lowest. Those beyond
// the end are zero.
func eight(s string, i int) uint64 {
	if i+8 > len(s) {
		return tail(s, i)
	}
	return load(s[i : i+8])
}

// load returns the first eight bytes of s.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// tail returns the bytes of s from i, fewer than eight.
func tail(s string, i int) (b uint64) {
	if len(s) >= 8 {
		return load(s[len(s)-8:]) >> (8 * uint(i+8-len(s)))
	}
	for n := len(s) - 1; n >= i; n-- {
		b = b<<8 | uint64(s[n])
	}
	return b
}

// lettersIn returns how many of eight bytes, from the first, may go on in a word:
// letters, digits, _, $ and what is beyond ASCII.
func lettersIn(b uint64) int {
	low := b & lowSeven
	lower := low | lowerCase
	letter := (lower + (0x80-'a')*every) &^ (lower + (0x7f-'z')*every)
	digit := (low + (0x80-'0')*every) &^ (low + (0x7f-'9')*every)
	neither := (low ^ '_'*every + lowSeven) & (low ^ '$'*every + lowSeven)
	return bits.TrailingZeros64(neither&^(letter|digit|b)&highBit) / 8
}

// lettersAt returns where the letters at i end.
func lettersAt(s string, i int) int {
	for i < len(s) {
		n := lettersIn(eight(s, i))
		i += n
		if n < 8 {
			break
		}
	}
	return i
}

// acting is a word that acts: its letters as eight has them, or zero.
type acting struct {
	letters uint64
	kind    kind
}

// acts has each word that acts at its slot.
var acts = actingWords()

func actingWords() (acts [16]acting) {
	for word, kind := range map[string]kind{
		"for": kindFor, "into": kindInto, "with": kindWith, "insert": kindWrite, "update": kindWrite,
		"delete": kindWrite, "merge": kindWrite, "setseed": kindSystem,
	} {
		letters := eight(word, 0)
		acts[slot(letters)] = acting{letters, kind}
	}
	return acts
}

// slot returns a number that no two words that act share.
func slot(letters uint64) uint64 { return letters * 0x81af155173f23d65 >> 60 }

// wordKind tells the words that act, and the server's names, from the others. It
// takes eight bytes of which the first n are letters of the word; n is eight for
// a longer one, too, and no word that acts is as long.
func wordKind(b uint64, n int) kind {
	b |= lowerCase
	if b&0xffffff == 'p'|'g'<<8|('_'|0x20)<<16 && n > 3 {
		return kindSystem
	}
	b &= 1<<(8*uint(n)) - 1
	if a := &acts[slot(b)]; a.letters == b {
		return a.kind
	}
	return kindWord
}
