package driver

import (
	"strings"
)

// blanks are what pgx takes for space between keywords and values.
const blanks = " \t\n\r\v\f"

// takeFromKeywords takes the settings out of a string of keywords and values
// whose keys are unwanted, each with the blank behind it; what then is the end
// loses the blank before them.
func takeFromKeywords(text string, unwanted func(key string) bool) (rest string, taken []setting) {
	at := 0
	for _, s := range keywordSettings(text) {
		if !unwanted(s.key) {
			continue
		}
		taken = append(taken, s)
		rest += text[at:s.start]
		at = s.end
		if at < len(text) && isBlank(text[at]) {
			at++
		}
	}
	if at == len(text) && rest != "" && isBlank(rest[len(rest)-1]) {
		rest = rest[:len(rest)-1]
	}
	rest += text[at:]
	if isURL(rest) {
		rest = " " + rest // still a keyword, however it looks
	}
	return rest, taken
}

// addToKeywords adds settings to a string of keywords and values, before those
// that it has. Behind them they could become part of a value that is left open:
// the string may end in "key=" or in a backslash.
func addToKeywords(text string, settings []setting) string {
	pairs := make([]string, len(settings), len(settings)+1)
	for i, s := range settings {
		pairs[i] = s.key + "=" + quote(s.value)
	}
	if text != "" {
		pairs = append(pairs, text)
	}
	return strings.Join(pairs, " ")
}

// keywordSettings returns the settings of a string of keywords and values that
// pgx has parsed.
func keywordSettings(text string) []setting {
	var settings []setting
	for at := skipBlanks(text, 0); at < len(text); {
		equals := strings.IndexByte(text[at:], '=')
		if equals < 0 {
			break
		}
		s := setting{start: at, key: strings.Trim(text[at:at+equals], blanks)}
		s.value, s.end = keywordValue(text, skipBlanks(text, at+equals+1))
		settings = append(settings, s)
		at = skipBlanks(text, s.end)
	}
	return settings
}

// keywordValue returns the value that begins at an index, and where it ends. A
// backslash makes the next character an ordinary one.
func keywordValue(text string, at int) (value string, end int) {
	quoted := strings.HasPrefix(text[at:], "'")
	if quoted {
		at++
	}
	var plain strings.Builder
	for ; at < len(text); at++ {
		switch b := text[at]; {
		case quoted && b == '\'':
			return plain.String(), at + 1
		case !quoted && isBlank(b):
			return plain.String(), at
		case b == '\\':
			at++
			if at == len(text) {
				return plain.String(), at
			}
		}
		plain.WriteByte(text[at])
	}
	return plain.String(), at
}

// quote is the inverse of keywordValue.
func quote(value string) string {
	if value != "" && !strings.ContainsAny(value, `'\`+blanks) {
		return value
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

func skipBlanks(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], blanks))
}

func isBlank(b byte) bool { return strings.IndexByte(blanks, b) >= 0 }
