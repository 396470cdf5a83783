package wire

// mayCopy reports whether a text may hold a COPY from or to the client, during
// which the server wants no other messages: the word COPY stands where a
// statement may begin, and STDIN or STDOUT behind it. A string or a comment may
// hold them too; then the flight goes without its questions, which is safe.
//
// Source: https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY
func mayCopy(text []byte) bool {
	for at := 0; ; at++ {
		at = indexWord(text, at, "copy")
		if at < 0 {
			return false
		}
		if mayBegin(text[:at]) {
			return indexWord(text, at, "stdin") >= 0 || indexWord(text, at, "stdout") >= 0
		}
	}
}

// mayBegin reports whether a statement may begin behind what stands before it:
// nothing, another statement, or a comment, which a slash or a line ends.
func mayBegin(before []byte) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ';', '/', '\n', '\r':
			return true
		case ' ', '\t', '\f', '\v':
		default:
			return false
		}
	}
	return true
}

// indexWord returns where word, in lower case, stands in text at or behind from,
// in any case, with no letter, digit or underscore at either side; or -1.
func indexWord(text []byte, from int, word string) int {
	first := word[0]
	for i := from; i+len(word) <= len(text); i++ {
		if text[i]|0x20 != first || !foldEqual(text[i:i+len(word)], word) {
			continue
		}
		before := i == 0 || !inWord(text[i-1])
		after := i+len(word) == len(text) || !inWord(text[i+len(word)])
		if before && after {
			return i
		}
	}
	return -1
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
