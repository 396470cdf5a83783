package wire

// mayCopy reports whether a text may hold a COPY from or to the client, during
// which the server wants no other messages: the words COPY and STDIN or STDOUT
// both stand in it. A string or a comment may hold them too; then the flight
// goes without its questions, which is safe.
//
// Source: https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY
func mayCopy(text []byte) bool {
	return hasWord(text, "copy") && (hasWord(text, "stdin") || hasWord(text, "stdout"))
}

// hasWord reports whether word, in lower case, stands in text in any case, with
// no letter, digit or underscore at either side.
func hasWord(text []byte, word string) bool {
	first := word[0]
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 != first || !foldEqual(text[i:i+len(word)], word) {
			continue
		}
		before := i == 0 || !inWord(text[i-1])
		after := i+len(word) == len(text) || !inWord(text[i+len(word)])
		if before && after {
			return true
		}
	}
	return false
}

func foldEqual(text []byte, word string) bool {
	for i := range text {
		if text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}
