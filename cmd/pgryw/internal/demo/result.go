package demo

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/pgryw/pgryw/router"
)

// counters count what happens in a run.
//
// Concurrency: safe for use by any number of goroutines.
type counters struct {
	writes, reads, ownReads, staleReads, standbyReads atomic.Int64
}

// Result is what came of the run of one way.
type Result struct {
	Way    string
	Writes int64
	Reads  int64
	// OwnReads are the reads of what the reader itself had written, StaleReads
	// those of them that returned an older value than had been acknowledged.
	OwnReads, StaleReads int64
	// StandbyReads are the reads that standbys answered.
	StandbyReads int64
	// P50 and P95 say how long reads took, from the call to the value.
	P50, P95 time.Duration
	// Reasons count the statements by why they were routed as they were. Nil
	// where nothing is routed.
	Reasons map[router.Reason]uint64
}

// newResult sums a run up.
func newResult(way string, c *counters, reads []time.Duration) Result {
	slices.Sort(reads)
	return Result{
		Way: way, Writes: c.writes.Load(), Reads: c.reads.Load(),
		OwnReads: c.ownReads.Load(), StaleReads: c.staleReads.Load(), StandbyReads: c.standbyReads.Load(),
		P50: percentile(reads, 50), P95: percentile(reads, 95),
	}
}

// percentile returns the smallest of the sorted values that p percent of them
// do not exceed; zero if there are none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
