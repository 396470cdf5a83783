package router

import (
	"strings"
	"time"
)

// hints are what the comments of a text ask for.
type hints struct {
	hint         Hint
	maxStaleness time.Duration
}

// read takes in one comment. What follows "pgryw:", in whatever case, up to a
// blank, a comma, a semicolon, a colon, a quote or the comment's end is a hint. One that
// is not understood, or that contradicts another, asks for the primary.
func (h *hints) read(comment string) {
	for {
		colon := strings.IndexByte(comment, ':')
		if colon < 0 {
			return
		}
		word, rest := comment[:colon], comment[colon+1:]
		comment = rest
		const prefix = "pgryw"
		if start := len(word) - len(prefix); start < 0 || !same(word[start:], prefix) ||
			start > 0 && inWord[word[start-1]] {
			continue
		}
		if end := strings.IndexAny(rest, " \t\r\n\f\v:,;'\"*"); end >= 0 {
			rest = rest[:end]
		}
		h.take(rest)
	}
}

// take takes in one hint.
func (h *hints) take(word string) {
	const bound = "max_staleness="
	switch {
	case same(word, "primary"):
		h.hint = HintPrimary
	case same(word, "replica"):
		if h.hint == HintNone {
			h.hint = HintReplica
		}
	case len(word) > len(bound) && strings.EqualFold(word[:len(bound)], bound):
		h.bound(word[len(bound):])
	default:
		h.hint = HintPrimary
	}
}

// bound takes in a bound on staleness.
func (h *hints) bound(word string) {
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 || h.maxStaleness != 0 && d != h.maxStaleness {
		h.hint = HintPrimary
		return
	}
	h.maxStaleness = d
}
