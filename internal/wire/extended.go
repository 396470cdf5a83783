package wire

import "bytes"

// parsesAlike reports whether a Query's body says the same in a Parse. A
// parameter is another error there; what stands in a string is none. And behind
// a zero byte a Parse has the types of parameters.
func parsesAlike(body []byte) bool {
	text, rest, _ := bytes.Cut(body, zero)
	if len(rest) > 0 {
		return false
	}
	for quotes := 0; ; {
		before, behind, found := bytes.Cut(text, dollar)
		if !found {
			return true
		}
		quotes += bytes.Count(before, quote)
		if quotes%2 == 0 && len(behind) > 0 && '0' <= behind[0] && behind[0] <= '9' {
			return false
		}
		text = behind
	}
}

var dollar, quote = []byte{'$'}, []byte{'\''}

// appendExtended adds what a simple Query says as unnamed extended messages up
// to the Execute. The results come as text, as a Query's do; the Describe makes
// them be described. Of the answers, ParseComplete, BindComplete and NoData are
// taken out again, and what is left is what the Query would have had.
func appendExtended(b, query []byte) []byte {
	text := query[headerBytes:] // with its zero byte
	start := len(b)
	b = append(b, 'P', 0, 0, 0, 0, 0) // the unnamed statement
	b = append(b, text...)
	b = append(b, 0, 0) // no parameter types
	setLength(b, start)
	b = appendMessage(b, 'B', "\x00\x00\x00\x00\x00\x00\x00\x00")
	b = appendMessage(b, 'D', "P\x00")
	return appendMessage(b, 'E', "\x00\x00\x00\x00\x00")
}
