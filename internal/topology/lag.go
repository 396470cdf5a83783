package topology

import (
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// lag is how far a replica is behind, in time. A stall must show at once and
// not pass for the usual: they are two numbers.
type lag struct {
	// usual is how long the replica takes to replay what the primary has
	// written; negative if that is not known. It changes only when the replica
	// has come forward.
	usual time.Duration
	// behind is for how long the primary had been beyond what the replica had
	// replayed when it last answered; zero if it had replayed everything.
	behind time.Duration
}

// unknownLag is the lag of a replica that nothing is known of.
var unknownLag = lag{usual: -1}

// note takes in an answer: how far the replica was at an instant, and how far it
// had been at the answer before.
func (g *lag) note(history []router.Sample, was, now lsn.LSN, asked time.Time) {
	before := g.behind
	g.behind = beyondFor(history, now, asked)
	took := max(before, g.behind)
	atMost := beyondFor(history, was, asked) // what it has replayed since is not older
	switch {
	case g.usual < 0:
		g.usual = g.behind
	case now == was:
	case took > 0:
		g.usual = smooth(g.usual, min(took, max(atMost, g.behind)))
	default:
		g.usual = min(g.usual, atMost) // between two looks: that is all that can be said
	}
}

// beyondFor returns for how long, at an instant, the primary had been beyond a
// position, by the samples.
func beyondFor(history []router.Sample, l lsn.LSN, at time.Time) time.Duration {
	for _, s := range history {
		if s.LSN > l {
			return max(at.Sub(s.At), 0)
		}
	}
	return 0
}

// smooth follows a growing lag at once and a shrinking one by and by.
func smooth(old, now time.Duration) time.Duration {
	if now >= old {
		return now
	}
	return old - (old-now)/2
}
