package router

import (
	"strings"
	"unicode/utf8"
)

// Env is what is known about the server that will read the text. A nil or zero
// Env is safe: what it does not tell is doubted.
type Env struct {
	// Functions are the functions that users and extensions have made; nil is
	// none known.
	Functions *Catalog
	// Strings is how the server reads a backslash in a plain string.
	Strings Strings
}

// Strings is how a server reads a backslash in a plain string: what it reports
// as standard_conforming_strings.
type Strings uint8

// The ways to read a backslash.
const (
	StringsUnknown   Strings = iota // a text that depends on it is doubted
	StringsStandard                 // on: a character like any other
	StringsBackslash                // off: it escapes the next character
)

// textLimit is longer than any text that a server takes.
const textLimit = 1 << 30

// Classify finds out what a statement may do, as far as its text tells. It
// denies by default: only a single SELECT, TABLE, VALUES or WITH, or an EXPLAIN
// of one, that holds no word that could write, lock or store, and calls only
// functions known to be stable, is a read.
//
// Classify cannot see what a view, an operator, a cast or a column default does,
// nor a user's function called as if it were a column: whether such a read wrote
// is asked where it ran.
//
// At most one Env counts; none is as a nil one.
//
// Cost: one pass over the text, no allocation. Concurrency: pure.
func Classify(sql string, env ...*Env) (s Statement) {
	c := classifier{scanner: scanner{text: sql}}
	if len(env) > 0 {
		c.know(env[0])
	}
	c.classify(&s)
	return s
}

// know takes in what is known about the server.
func (c *classifier) know(env *Env) {
	if env != nil {
		c.functions, c.strings = env.Functions, env.Strings
	}
}

// classifier reads one text.
type classifier struct {
	scanner
	functions *Catalog
	query     // the statement that is being read

	// The latest four tokens: the kind of the very latest is in the lowest byte.
	// Those before the statement are kindEnd.
	kinds uint32
	spans [4]uint64
	read  uint // how many tokens the statement has had

	calls func(Call) // for Functions
}

// classify reads the whole text and says what it found out.
func (c *classifier) classify(s *Statement) {
	if why := unreadable(c.text); why != CauseNone {
		*s = Statement{Why: why, Starts: PinUnknown | PinTx}
		return
	}
	if strings.HasPrefix(c.text, "\uFEFF") {
		c.at = len("\uFEFF")
	}
	count, starts := c.statements(s)
	switch {
	case c.doubt == CauseUnclosed, c.doubt == CauseBackslash:
		*s = Statement{Why: c.doubt, Starts: starts | PinUnknown | PinTx}
	case count == 0:
		*s = Statement{Why: CauseEmpty}
	case count > 1:
		*s = Statement{Why: CauseSeveral, Starts: starts}
		if c.doubt != CauseNone {
			s.Starts |= PinUnknown
		}
	case c.doubt != CauseNone:
		*s = Statement{Why: c.doubt, Starts: starts | PinUnknown, Single: true}
	default:
		s.Single = true
	}
	s.Hint, s.MaxStaleness = c.hints.hint, c.hints.maxStaleness
}

// statements reads the statements of the text. It returns how many there are,
// what any of them may start, and, in s, the last of them. Of a transaction, the
// last word that a text has on it counts; but END behind CREATE may be that of a
// routine's body.
func (c *classifier) statements(s *Statement) (count int, starts Pin) {
	bodies := false
	for {
		if c.quietly() {
			c.skim()
		}
		t := c.next()
		switch {
		case t.kind != kindEnd && (t.kind != kindSemicolon || c.depth > 0):
			c.take(t)
			continue
		case !c.empty():
			c.settle()
			c.conclude(s)
			if bodies = bodies || c.headIs(0, "create"); !bodies {
				starts &^= s.Ends & PinTx
			}
			starts |= s.Starts
			count++
		}
		if t.kind == kindEnd {
			return count, starts
		}
		c.query, c.kinds, c.read = query{}, 0, 0
	}
}

// unreadable returns why a text cannot be read at all, or CauseNone.
func unreadable(text string) Cause {
	switch {
	case len(text) > textLimit:
		return CauseLength
	case strings.IndexByte(text, 0) >= 0, !utf8.ValidString(text):
		return CauseEncoding
	}
	return CauseNone
}

// remember makes a token the latest.
func (c *classifier) remember(t token) {
	c.kinds = c.kinds<<8 | uint32(t.kind)
	c.spans[c.read%4] = uint64(t.from)<<32 | uint64(t.to)
	c.read++
}

// last returns the kind of the n-th token before the present one, from 1 to 4.
func (c *classifier) last(n uint) kind { return kind(c.kinds >> (8 * (n - 1))) }

// back returns the n-th token before the present one, from 1 to 4.
func (c *classifier) back(n uint) token {
	span := c.spans[(c.read-n)%4]
	return token{kind: c.last(n), from: uint32(span >> 32), to: uint32(span)}
}

// textOf returns what a token is.
func (c *classifier) textOf(t token) string { return c.text[t.from:t.to] }

// is reports whether a token is a keyword, given in lower case.
func (c *classifier) is(t token, keyword string) bool {
	return t.kind.word() && same(c.textOf(t), keyword)
}
