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
func Classify(sql string, env ...*Env) Statement {
	var c classifier
	if len(env) > 0 {
		return c.run(sql, env[0])
	}
	return c.run(sql, nil)
}

// classifier reads one text.
type classifier struct {
	scanner
	functions *Catalog
	query     // the statement that is being read

	past [4]token // the latest tokens; those before the text are kindEnd
	read uint     // how many tokens there have been

	calls func(Call) // for Functions
}

// run reads the whole text.
func (c *classifier) run(sql string, env *Env) Statement {
	c.text = sql
	if env != nil {
		c.functions, c.strings = env.Functions, env.Strings
	}
	if why := unreadable(c.text); why != CauseNone {
		return Statement{Why: why, Starts: PinUnknown | PinTx}
	}
	if strings.HasPrefix(c.text, "\uFEFF") {
		c.at = len("\uFEFF")
	}
	var s, several Statement
	count := 0
	for done := false; !done; {
		t := c.next()
		if done = t.kind == kindEnd; !done && (t.kind != kindSemicolon || c.depth > 0) {
			c.take(t)
			continue
		}
		if c.empty() {
			continue
		}
		c.settle()
		s = c.conclude()
		several.join(s)
		count++
		c.query = query{}
		c.read, c.past = 0, [4]token{}
	}
	switch {
	case c.doubt == CauseUnclosed, c.doubt == CauseBackslash:
		s = Statement{Why: c.doubt, Starts: several.Starts | PinUnknown | PinTx}
	case count == 0:
		s = Statement{Why: CauseEmpty}
	case count > 1:
		s = Statement{Why: CauseSeveral, Starts: several.Starts}
		if c.doubt != CauseNone {
			s.Starts |= PinUnknown
		}
	case c.doubt != CauseNone:
		s = Statement{Why: c.doubt, Starts: several.Starts | PinUnknown, Single: true}
	default:
		s.Single = true
	}
	s.Hint, s.MaxStaleness = c.hints.hint, c.hints.maxStaleness
	return s
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

// join takes in one more statement of a text: what any of them starts may be
// started; a transaction is left open if the last word on it says so.
func (s *Statement) join(next Statement) {
	s.Starts = s.Starts&^(next.Ends&PinTx) | next.Starts
}

// back returns the n-th token before the present one, from 1 to 4.
func (c *classifier) back(n uint) token { return c.past[(c.read-n)%4] }

// textOf returns what a token is.
func (c *classifier) textOf(t token) string { return c.text[t.from:t.to] }

// is reports whether a token is a keyword, given in lower case.
func (c *classifier) is(t token, keyword string) bool {
	return t.kind.word() && same(c.textOf(t), keyword)
}
