package driver

import (
	"strings"
)

// takeFromURL takes the query parameters out of a connection URL whose keys are
// unwanted. A '?' or '&' at the end stays.
func takeFromURL(url string, unwanted func(key string) bool) (rest string, taken []setting) {
	query := queryIndex(url)
	var kept strings.Builder
	for _, s := range urlSettings(url) {
		if unwanted(s.key) {
			taken = append(taken, s)
			continue
		}
		if kept.Len() > 0 {
			kept.WriteByte('&')
		}
		kept.WriteString(url[s.start:s.end])
	}
	if len(taken) == 0 {
		return url, nil
	}

	open := strings.HasSuffix(url, "&")
	switch {
	case kept.Len() > 0 && open:
		return url[:query+1] + kept.String() + "&", taken
	case kept.Len() > 0 || open:
		return url[:query+1] + kept.String(), taken
	}
	return url[:query], taken
}

// addToURL adds query parameters to a connection URL, behind those that it has,
// so that they overrule them.
func addToURL(url string, settings []setting) string {
	if len(settings) == 0 {
		return url
	}
	pairs := make([]string, len(settings))
	for i, s := range settings {
		pairs[i] = escapeURL(s.key) + "=" + escapeURL(s.value)
	}
	added := strings.Join(pairs, "&")

	switch query := queryIndex(url); {
	case query == len(url):
		return url + "?" + added
	case query == len(url)-1, strings.HasSuffix(url, "&"):
		// What ends in a separator ends in one again, or it would not come back
		// as it was.
		return url + added + "&"
	}
	return url + "&" + added
}

// urlSettings returns the query parameters of a connection URL that pgx has
// parsed.
func urlSettings(url string) []setting {
	var settings []setting
	for at := queryIndex(url) + 1; at < len(url); {
		end := at + len(url[at:])
		if i := strings.IndexByte(url[at:], '&'); i >= 0 {
			end = at + i
		}
		key, value, _ := strings.Cut(url[at:end], "=")
		settings = append(settings, setting{unescapeURL(key), unescapeURL(value), at, end})
		at = end + 1
	}
	return settings
}

// queryIndex returns the index of the '?' that begins the query of a connection
// URL, or its length. It goes by pgx's rules, which are libpq's, not RFC 3986:
// only a '/' ends the search for the '@' of the user, and whatever stands in
// the brackets of an IPv6 address belongs to it.
func queryIndex(url string) int {
	at := strings.Index(url, "://") + len("://")
	if i := strings.IndexAny(url[at:], "@/"); i >= 0 && url[at+i] == '@' {
		at += i + 1
	}
	for inHosts := true; inHosts; at++ {
		if strings.HasPrefix(url[at:], "[") {
			at += max(0, strings.IndexByte(url[at:], ']'))
		}
		i := strings.IndexAny(url[at:], ",/?")
		if i < 0 {
			return len(url)
		}
		at += i
		inHosts = url[at] == ','
	}
	at-- // to the '/' or '?' behind the hosts
	if i := strings.IndexByte(url[at:], '?'); i >= 0 {
		return at + i
	}
	return len(url)
}

// unescapeURL decodes a key or value of a query. Like pgx it leaves out the
// spaces around it, and reads '+' as itself.
func unescapeURL(text string) string {
	text = strings.Trim(text, " ")
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			plain.WriteByte(unhex(text[i+1])<<4 | unhex(text[i+2]))
			i += 2
			continue
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

func unhex(digit byte) byte {
	if digit <= '9' {
		return digit - '0'
	}
	return digit&^0x20 - 'A' + 10
}

// escapeURL is the inverse of unescapeURL.
func escapeURL(plain string) string {
	const digits = "0123456789ABCDEF"
	var text strings.Builder
	for i := range len(plain) {
		switch b := plain[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("-._~", b) >= 0:
			text.WriteByte(b)
		default:
			text.WriteByte('%')
			text.WriteByte(digits[b>>4])
			text.WriteByte(digits[b&15])
		}
	}
	return text.String()
}
