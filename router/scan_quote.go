package router

import "strings"

// plain reads a string without a letter before it.
func (x *scanner) plain(from int) token {
	if x.strings == StringsBackslash {
		return x.escaped(from, from)
	}
	return x.standard(from, from, x.strings == StringsUnknown)
}

// introduced reads the string or identifier that begins with the single letter
// at from, if there is one. N” is a word and a plain string.
func (x *scanner) introduced(from int) (token, bool) {
	quote := from + 1
	if x.text[quote] == '\'' {
		switch x.text[from] | 0x20 {
		case 'e':
			return x.escaped(from, quote), true
		case 'b', 'x':
			return x.bits(from, quote), true
		}
		return token{}, false
	}
	quote++
	if x.text[from]|0x20 != 'u' || quote >= len(x.text) {
		return token{}, false
	}
	switch x.text[quote] {
	case '\'':
		return x.standard(from, quote, false), true
	case '"':
		x.doubts(CauseName) // what it names is not known without decoding it
		return x.identifier(quote), true
	}
	return token{}, false
}

// standard reads a string in which a backslash is a character like any other.
// If that is not certain, a quote that a backslash may hide is a doubt.
func (x *scanner) standard(from, quote int, uncertain bool) token {
	s, i := x.text, quote+1
	for {
		n := strings.IndexByte(s[i:], '\'')
		if n < 0 {
			return x.unclosed(kindString, from)
		}
		if uncertain && hides(s[i:i+n]) {
			x.doubts(CauseBackslash)
		}
		i += n + 1
		if i < len(s) && s[i] == '\'' {
			i++
			continue
		}
		next, more := x.continued(i)
		if !more {
			return x.sign(kindString, from, i-from)
		}
		i = next
	}
}

// bits reads a string of bits, in which a doubled quote does not stand for itself:
// it ends one string and begins a plain one.
func (x *scanner) bits(from, quote int) token {
	for i := quote + 1; ; {
		n := strings.IndexByte(x.text[i:], '\'')
		if n < 0 {
			return x.unclosed(kindString, from)
		}
		i += n + 1
		next, more := x.continued(i)
		if !more {
			return x.sign(kindString, from, i-from)
		}
		i = next
	}
}

// hides reports whether a quote behind s would be hidden where a backslash
// escapes.
func hides(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// escaped reads a string in which a backslash escapes the next character.
func (x *scanner) escaped(from, quote int) token {
	s, i := x.text, quote+1
	for i < len(s) {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			next, more := x.continued(i + 1)
			switch {
			case i+1 < len(s) && s[i+1] == '\'':
				i++
			case !more:
				return x.sign(kindString, from, i+1-from)
			default:
				i = next - 1
			}
		}
		i++
	}
	return x.unclosed(kindString, from)
}

// continued reports whether the string that ends before i goes on behind blanks
// with an end of line among them, and where. The blanks may hold comments to the
// end of a line.
func (x *scanner) continued(i int) (next int, more bool) {
	s, start, lines := x.text, i, 0
	for i < len(s) && sorts[s[i]] != sortQuote {
		switch {
		case s[i] == '\n' || s[i] == '\r':
			lines++
		case sorts[s[i]] == sortBlank:
		case s[i] == '-' && i+1 < len(s) && s[i+1] == '-':
			i += 2
			for i < len(s) && s[i] != '\n' && s[i] != '\r' {
				i++
			}
			continue
		default:
			return i, false
		}
		i++
	}
	if i >= len(s) || lines == 0 {
		return i, false
	}
	x.hints.read(s[start:i])
	return i + 1, true
}

// identifier reads a quoted identifier. The token is what is between the
// quotes, in which a quote is doubled.
func (x *scanner) identifier(quote int) token {
	s, i := x.text, quote+1
	for {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return x.unclosed(kindQuoted, quote)
		}
		i += n + 1
		if i < len(s) && s[i] == '"' {
			i++
			continue
		}
		x.at = i
		return token{kind: kindQuoted, from: uint32(quote + 1), to: uint32(i - 1)}
	}
}

// dollar reads a parameter or a dollar-quoted string.
func (x *scanner) dollar(from int) token {
	s, i := x.text, from+1
	if i < len(s) && sorts[s[i]] == sortDigit {
		for i < len(s) && sorts[s[i]] == sortDigit {
			i++
		}
		return x.sign(kindNumber, from, i-from)
	}
	for i < len(s) && s[i] != '$' && inWord[s[i]] {
		i++
	}
	if i >= len(s) || s[i] != '$' {
		return x.sign(kindSign, from, 1)
	}
	i++
	tag := s[from:i]
	n := strings.Index(s[i:], tag)
	if n < 0 {
		return x.unclosed(kindString, from)
	}
	return x.sign(kindString, from, i+n+len(tag)-from)
}

// unclosed ends the text with a token that has no end.
func (x *scanner) unclosed(k kind, from int) token {
	x.doubts(CauseUnclosed)
	return x.sign(k, from, len(x.text)-from)
}
