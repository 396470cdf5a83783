package router

// skim passes over what means nothing by itself: words that do not act, numbers,
// parameters, commas, points and signs; it takes in parentheses. It stops ahead
// of anything else, and of a word that may mean something in its place.
func (c *classifier) skim() {
	s, i := c.text, c.at
	kinds, read := c.kinds, c.read // as c.kinds and c.read, but in registers
text:
	for i < len(s) {
		from, k := i, kindSign
		switch first := sorts[s[i]]; { // the most frequent first
		case first == sortBlank:
			i++
			continue
		case first == sortLetter:
			var b uint64
			if i+8 <= len(s) {
				b = load(s[i:])
			} else {
				b = tail(s, i)
			}
			n := lettersIn(b)
			if i += n; n == 8 {
				i = lettersAt(s, i)
			}
			k = wordKind(b, n)
			switch last := kind(kinds); {
			case last == kindDot && kind(kinds>>8) != kindClose:
				k = wordBehindDot(k)
			case minds[last]:
				i = from
				break text
			}
			if k != kindWord || n == 1 && i < len(s) && introduces(s[i]) {
				i = from
				break text
			}
		case first == sortComma:
			i++
			k = kindComma
		case first == sortOpen:
			i++
			k = kindOpen
			c.kinds, c.read = kinds, read
			c.open()
		case first == sortClose:
			i++
			k = kindClose
			c.kinds, c.read = kinds, read
			c.close()
		case first == sortDot:
			i++
			k = kindDot
		case first == sortSign:
			i++
		case first == sortDigit:
			i = numberAt(s, i)
			k = kindNumber
		case first == sortDollar && i+1 < len(s) && sorts[s[i+1]] == sortDigit:
			i = digitsAt(s, i+1)
			k = kindNumber
		default:
			break text
		}
		kinds = kinds<<8 | uint32(k)
		c.spans[read%4] = uint64(from)<<32 | uint64(i)
		read++
	}
	c.at, c.kinds, c.read = i, kinds, read
}
