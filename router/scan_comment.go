package router

import "strings"

// lineComment returns where the comment that begins with -- at from ends.
func (x *scanner) lineComment(from int) int {
	end := len(x.text)
	if n := strings.IndexAny(x.text[from:], "\n\r"); n >= 0 {
		end = from + n
	}
	x.hints.read(x.text[from:end])
	return end
}

// comment returns where the comment that begins at from ends, with those that
// are nested in it.
func (x *scanner) comment(from int) int {
	s, depth := x.text, 1
	for i := from + 2; i+1 < len(s); i++ {
		switch {
		case s[i] == '*' && s[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				x.hints.read(s[from : i+1])
				return i + 1
			}
		case s[i] == '/' && s[i+1] == '*':
			depth++
			i++
		}
	}
	x.doubts(CauseUnclosed)
	return len(s)
}
