package wire

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
