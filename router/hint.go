package router

import (
	"strings"
	"time"
)

const hintPrefix = "pgryw:"

// hints are what the comments of a text ask for.
type hints struct {
	hint         Hint
	maxStaleness time.Duration
}

// read takes in one comment. A hint that is not understood, or that contradicts
// another, asks for the primary.
func (h *hints) read(comment string) {
	for {
		at := strings.Index(comment, hintPrefix)
		if at < 0 {
			return
		}
		comment = comment[at+len(hintPrefix):]
		end := strings.IndexAny(comment, " \t\r\n,;*")
		if end < 0 {
			end = len(comment)
		}
		h.take(comment[:end])
	}
}

func (h *hints) take(word string) {
	if bound, ok := strings.CutPrefix(word, "max_staleness="); ok {
		d, err := time.ParseDuration(bound)
		if err != nil || d <= 0 {
			h.hint = HintPrimary
			return
		}
		if h.maxStaleness == 0 || d < h.maxStaleness {
			h.maxStaleness = d
		}
		return
	}
	if word == "replica" && h.hint != HintPrimary {
		h.hint = HintReplica
		return
	}
	h.hint = HintPrimary
}
