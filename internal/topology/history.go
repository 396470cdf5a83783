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

// regress returns the history without what is not true any more: a primary that
// was at an earlier position, when asked after the newest sample, has lost in a
// crash what it had not flushed.
func regress(history []router.Sample, asked time.Time, inserted lsn.LSN) []router.Sample {
	if n := len(history); n > 0 && inserted < history[n-1].LSN && asked.After(history[n-1].At) {
		return nil
	}
	return history
}

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
