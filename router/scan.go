package router

import "strings"

// kind is what a token is.
type kind uint8

// The kinds. Those from kindWord to kindWrite are unquoted words.
const (
	kindEnd       kind = iota
	kindWord           // an identifier or keyword
	kindSystem         // a word that begins with pg_, or setseed
	kindFor            // FOR
	kindInto           // INTO
	kindWith           // WITH
	kindWrite          // INSERT, UPDATE, DELETE, MERGE
	kindQuoted         // a quoted identifier; its text is that between the quotes
	kindString         // a string of any notation
	kindNumber         // a number or a parameter
	kindOpen           // (
	kindClose          // )
	kindComma          // ,
	kindDot            // .
	kindCast           // ::
	kindSemicolon      // ;
	kindSign           // any other character
)

// word reports whether a token of this kind is an unquoted word.
func (k kind) word() bool { return kindWord <= k && k <= kindWrite }

// token is one token of a text, and where it stands there.
type token struct {
	kind     kind
	from, to uint32
}

// scanner reads a text as PostgreSQL's own scanner does, as far as it takes to
// know where strings, comments and identifiers begin and end.
//
// Source: src/backend/parser/scan.l of PostgreSQL 13 to 18.
type scanner struct {
	text    string
	at      int
	strings Strings
	doubt   Cause // why the text cannot be read with certainty
	hints   hints
}

// doubts records why the text cannot be read with certainty: the first reason,
// but for a name, which leaves it certain where the tokens end.
func (x *scanner) doubts(why Cause) {
	if x.doubt == CauseNone || x.doubt == CauseName {
		x.doubt = why
	}
}

// sort is what a character may begin.
type sort uint8

const (
	sortSign sort = iota
	sortBlank
	sortLetter // also every byte beyond ASCII
	sortDigit
	sortQuote
	sortDouble
	sortDollar
	sortDash
	sortSlash
	sortColon
	sortOpen
	sortClose
	sortComma
	sortDot
	sortSemicolon
)

// sorts has the sort of each byte, and inWord whether it may go on in a word.
var sorts, inWord = sortBytes()

func sortBytes() (sorts [256]sort, inWord [256]bool) {
	for c := range sorts {
		switch b := byte(c); {
		case 'a' <= b|0x20 && b|0x20 <= 'z', b == '_', b >= 0x80:
			sorts[c], inWord[c] = sortLetter, true
		case '0' <= b && b <= '9':
			sorts[c], inWord[c] = sortDigit, true
		}
	}
	for b, s := range map[byte]sort{
		' ': sortBlank, '\t': sortBlank, '\n': sortBlank, '\r': sortBlank, '\f': sortBlank, '\v': sortBlank,
		'\'': sortQuote, '"': sortDouble, '$': sortDollar, '-': sortDash, '/': sortSlash, ':': sortColon,
		'(': sortOpen, ')': sortClose, ',': sortComma, '.': sortDot, ';': sortSemicolon,
	} {
		sorts[b] = s
	}
	inWord['$'] = true
	return sorts, inWord
}

// next returns the next token that is neither blank nor comment.
func (x *scanner) next() token {
	s, i := x.text, x.at
	for i < len(s) {
		first := sorts[s[i]]
		if first == sortBlank {
			i++
			continue
		}
		if first == sortLetter {
			return x.word(i)
		}
		switch first {
		case sortDash:
			if i+1 >= len(s) || s[i+1] != '-' {
				return x.sign(kindSign, i, 1)
			}
			i = x.lineComment(i)
		case sortSlash:
			if i+1 >= len(s) || s[i+1] != '*' {
				return x.sign(kindSign, i, 1)
			}
			i = x.comment(i)
		default:
			return x.other(first, i)
		}
	}
	return x.sign(kindEnd, i, 0)
}

// word reads an identifier or keyword, or the string that a letter introduces.
func (x *scanner) word(from int) token {
	s, i := x.text, lettersAt(x.text, from)
	if i == from+1 && i < len(s) && introduces(s[i]) {
		if t, ok := x.introduced(from); ok {
			return t
		}
	}
	x.at = i
	return token{kind: wordKind(eight(s, from), min(i-from, 8)), from: uint32(from), to: uint32(i)}
}

// introduces reports whether a character makes of one letter before it what
// introduces a string or an identifier.
func introduces(b byte) bool { return b == '\'' || b == '&' }

// other returns the token that begins at i with neither a letter nor what may
// begin a comment.
func (x *scanner) other(first sort, i int) token {
	switch first {
	case sortDigit:
		return x.number(i)
	case sortQuote:
		return x.plain(i)
	case sortDouble:
		return x.identifier(i)
	case sortDollar:
		return x.dollar(i)
	case sortColon:
		if strings.HasPrefix(x.text[i:], "::") {
			return x.sign(kindCast, i, 2)
		}
	case sortOpen:
		return x.sign(kindOpen, i, 1)
	case sortClose:
		return x.sign(kindClose, i, 1)
	case sortComma:
		return x.sign(kindComma, i, 1)
	case sortDot:
		return x.sign(kindDot, i, 1)
	case sortSemicolon:
		return x.sign(kindSemicolon, i, 1)
	}
	return x.sign(kindSign, i, 1)
}

// sign ends a token of a known length.
func (x *scanner) sign(k kind, from, length int) token {
	x.at = from + length
	return token{kind: k, from: uint32(from), to: uint32(from + length)}
}

// number reads the digits of a number, and a point behind them. What may follow
// (a fraction, an exponent, the rest of 0x1F) reads as a token of its own, which
// is of no consequence: servers before 15 end the number there too if that is
// what they then understand.
func (x *scanner) number(from int) token {
	return x.sign(kindNumber, from, numberAt(x.text, from)-from)
}

// numberAt returns where the number at i ends.
func numberAt(s string, i int) int {
	i = digitsAt(s, i)
	if i < len(s) && s[i] == '.' && (i+1 >= len(s) || s[i+1] != '.') {
		i++
	}
	return i
}

// same reports whether a word is a keyword, given in lower case.
func same(word, keyword string) bool {
	if len(word) != len(keyword) {
		return false
	}
	for i := range len(word) {
		if word[i] != keyword[i] && word[i]|0x20 != keyword[i] {
			return false
		}
	}
	return true
}

// digitsAt returns where the digits at i end.
func digitsAt(s string, i int) int {
	for i < len(s) && sorts[s[i]] == sortDigit {
		i++
	}
	return i
}
