package topology

import (
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

const (
	// historySize is how many samples of the primary's position are kept.
	historySize = 32
	// historyKept is how many of the newest are never thinned out.
	historyKept = 8
	// sampleSpacing is how far apart samples are at least.
	sampleSpacing = 2 * time.Millisecond
)

// sample adds a sample of the primary's position. When the history is full every
// other of the older samples goes, so that it reaches far back and is fine near
// its end. A position that is not beyond the newest adds nothing: the older
// instant says more. The slice is copied: snapshots hold the old one.
func sample(history []router.Sample, at time.Time, l lsn.LSN) []router.Sample {
	if n := len(history); n > 0 {
		if last := history[n-1]; l <= last.LSN || at.Sub(last.At) < sampleSpacing {
			return history
		}
	}
	grown := make([]router.Sample, 0, historySize)
	for i, s := range history {
		if len(history) < historySize || i >= len(history)-historyKept || i%2 == 0 {
			grown = append(grown, s)
		}
	}
	return append(grown, router.Sample{At: at, LSN: l})
}

// lagOf returns for how long the primary has been beyond what a replica had
// replayed at an instant.
func lagOf(history []router.Sample, replayed lsn.LSN, asked time.Time) time.Duration {
	for _, s := range history {
		if s.LSN > replayed {
			return max(asked.Sub(s.At), 0)
		}
	}
	return 0
}

// stalled returns the lag to reckon with of a replica that stands still, when it
// is asked again after about next: its lag grows with the time, and what is not
// replayed by then must not be expected to be.
func stalled(lag, next time.Duration) time.Duration {
	if lag == 0 {
		return 0 // it has replayed everything
	}
	return lag + 2*next
}

// smooth follows a growing lag at once and a shrinking one by and by.
// Negative is unknown.
func smooth(old, now time.Duration) time.Duration {
	if old < 0 || now >= old {
		return now
	}
	return old - (old-now)/2
}
