package router

import "strings"

// kind is what a token is.
type kind uint8

const (
	kindEnd    kind = iota
	kindWord        // an unquoted identifier or keyword
	kindQuoted      // a quoted identifier
	kindValue       // a string, a number or a parameter
	kindCast        // ::
	kindSign        // any other character, in Token.sign
)

// token is one token of a text.
type token struct {
	kind kind
	sign byte
	text string // as it stands there; without the quotes for kindQuoted
}

// scanner reads a text as PostgreSQL's own scanner would, as far as it takes to
// know where strings, comments and quoted identifiers begin and end.
//
// Source: src/backend/parser/scan.l.
type scanner struct {
	s    string
	i    int
	bad  bool // the text cannot be read with certainty
	hint hints
}

// next returns the next token that is neither blank nor comment.
func (x *scanner) next() token {
	for x.i < len(x.s) {
		c := x.s[x.i]
		switch {
		case isBlank(c):
			x.i++
		case c == '-' && x.has("--"):
			x.lineComment()
		case c == '/' && x.has("/*"):
			x.comment()
		case c == 0xEF && x.i == 0 && x.has("\uFEFF"):
			x.i += len("\uFEFF")
		default:
			return x.token(c)
		}
	}
	return token{}
}

func (x *scanner) has(prefix string) bool { return strings.HasPrefix(x.s[x.i:], prefix) }

func (x *scanner) token(c byte) token {
	start := x.i
	switch {
	case c == '\'':
		x.quoted('\'', false)
		return token{kind: kindValue}
	case c == '"':
		return token{kind: kindQuoted, text: x.quoted('"', false)}
	case c == '$':
		return x.dollar()
	case isDigit(c):
		x.number()
		return token{kind: kindValue}
	case isLetter(c):
		return x.word(c)
	case x.has("::"):
		x.i += 2
		return token{kind: kindCast}
	}
	x.i++
	return token{kind: kindSign, sign: x.s[start]}
}

// word reads an identifier, or the string that one of a few letters introduces.
func (x *scanner) word(c byte) token {
	if x.i+1 < len(x.s) && x.s[x.i+1] == '\'' {
		switch c | 0x20 {
		case 'e':
			x.i++
			x.quoted('\'', true)
			return token{kind: kindValue}
		case 'b', 'x', 'n':
			x.i++
			x.quoted('\'', false)
			return token{kind: kindValue}
		}
	}
	if c|0x20 == 'u' && x.i+2 < len(x.s) && x.s[x.i+1] == '&' {
		switch x.s[x.i+2] {
		case '\'':
			x.i += 2
			x.quoted('\'', false)
			return token{kind: kindValue}
		case '"':
			x.bad = true // its name is not known without decoding
			x.i += 2
			return token{kind: kindQuoted, text: x.quoted('"', false)}
		}
	}
	start := x.i
	for x.i < len(x.s) && (isLetter(x.s[x.i]) || isDigit(x.s[x.i]) || x.s[x.i] == '$') {
		x.i++
	}
	return token{kind: kindWord, text: x.s[start:x.i]}
}

// quoted reads from a quote to its match, where a doubled one stands for itself,
// and returns what is between. Without escapes a backslash is a character, but
// not with standard_conforming_strings=off: one before a quote is a doubt.
func (x *scanner) quoted(quote byte, escapes bool) string {
	x.i++
	start := x.i
	for x.i < len(x.s) {
		switch c := x.s[x.i]; {
		case c == '\\' && escapes:
			x.i++
		case c == '\\' && quote == '\'':
			x.bad = x.bad || x.i+1 < len(x.s) && x.s[x.i+1] == '\''
		case c == quote:
			if x.i+1 >= len(x.s) || x.s[x.i+1] != quote {
				text := x.s[start:x.i]
				x.i++
				return text
			}
			x.bad = x.bad || quote == '"' // its name is not known without decoding
			x.i++
		}
		x.i++
	}
	x.bad = true
	x.i = len(x.s)
	return ""
}

// dollar reads a parameter, or a dollar-quoted string.
func (x *scanner) dollar() token {
	i := x.i + 1
	if i < len(x.s) && isDigit(x.s[i]) {
		for i < len(x.s) && isDigit(x.s[i]) {
			i++
		}
		x.i = i
		return token{kind: kindValue}
	}
	for i < len(x.s) && (isLetter(x.s[i]) || isDigit(x.s[i])) {
		i++
	}
	if i >= len(x.s) || x.s[i] != '$' {
		x.i++
		return token{kind: kindSign, sign: '$'}
	}
	tag := x.s[x.i : i+1]
	end := strings.Index(x.s[i+1:], tag)
	if end < 0 {
		x.bad = true
		x.i = len(x.s)
		return token{kind: kindValue}
	}
	x.i = i + 1 + end + len(tag)
	return token{kind: kindValue}
}

// number reads digits and what may stand among them. Where it ends does not
// matter, as long as no quote or comment begins inside.
func (x *scanner) number() {
	for x.i < len(x.s) && (isDigit(x.s[x.i]) || isLetter(x.s[x.i]) || x.s[x.i] == '.') {
		x.i++
	}
}

func (x *scanner) lineComment() {
	end := strings.IndexAny(x.s[x.i:], "\n\r")
	if end < 0 {
		end = len(x.s) - x.i
	}
	x.hint.read(x.s[x.i : x.i+end])
	x.i += end
}

// comment reads a comment, and those nested in it.
func (x *scanner) comment() {
	start, depth := x.i, 1
	for x.i += 2; x.i < len(x.s); x.i++ {
		switch {
		case x.has("/*"):
			depth++
			x.i++
		case x.has("*/"):
			depth--
			x.i++
			if depth == 0 {
				x.i++
				x.hint.read(x.s[start:x.i])
				return
			}
		}
	}
	x.bad = true
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}
