package topology

import (
	"time"

	"github.com/pgryw/pgryw/router"
)

// heldPair is the newest pair of a node, and whose it is. It is immutable.
type heldPair struct {
	router.Pair
	server   server
	answered time.Time
}

// supersedes reports whether p is to be held in place of old. Answers may
// overtake each other, so a lower position counts only if its question was sent
// after the old answer had come: then the server has gone back, as in a crash
// restart.
func (p *heldPair) supersedes(old *heldPair) bool {
	switch {
	case old == nil:
		return true
	case p.server != old.server || p.Position.Timeline != old.Position.Timeline:
		return p.Asked.After(old.answered)
	case p.Position.LSN == old.Position.LSN:
		return p.Asked.After(old.Asked)
	case p.Position.LSN > old.Position.LSN:
		return true
	}
	return p.Asked.After(old.answered)
}
