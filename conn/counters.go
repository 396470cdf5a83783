package conn

import (
	"sync/atomic"

	"github.com/pgryw/pgryw/router"
)

// counters are the statistics of a Handle.
type counters struct {
	routes    [router.Reasons]atomic.Uint64
	captures  atomic.Uint64
	uncertain atomic.Uint64
	hidden    atomic.Uint64
	conns     atomic.Int64
	pinned    atomic.Int64
	pinnedLog atomic.Bool
	fencedLog atomic.Bool
	fenced    atomic.Uint64
	unfenced  atomic.Uint64
}

// Stats is a snapshot of a Handle's counters, all counts since it was opened
// unless they say now.
type Stats struct {
	// Routes counts decisions by reason. A read that was sent to a replica and
	// had to be repeated on the primary counts once, under the last reason.
	Routes map[router.Reason]uint64
	// CaptureCount is how many positions were captured.
	CaptureCount uint64
	// UncertainCount is how often a fence became uncertain.
	UncertainCount uint64
	// HiddenWriteCount is how many statements that look like reads have written.
	HiddenWriteCount uint64
	// ConnCount is how many logical connections there are now.
	ConnCount int
	// PinnedCount is how many of them are pinned to a primary connection now.
	PinnedCount int
}

// Stats returns the counters.
//
// Cost: no round trip.
func (h *Handle) Stats() Stats {
	s := Stats{
		Routes:           make(map[router.Reason]uint64),
		CaptureCount:     h.counters.captures.Load(),
		UncertainCount:   h.counters.uncertain.Load(),
		HiddenWriteCount: h.counters.hidden.Load(),
		ConnCount:        int(h.counters.conns.Load()),
		PinnedCount:      int(h.counters.pinned.Load()),
	}
	for reason := range router.Reason(router.Reasons) {
		if n := h.counters.routes[reason].Load(); n > 0 {
			s.Routes[reason] = n
		}
	}
	return s
}

// fencedSample is how many fenced and unfenced reads are looked at before the
// handle says that most of them are fenced ahead.
const fencedSample = 1000

// noteFenced watches how many reads without a session find no replica that has
// replayed their fence, and says so once if most do: the price of scope db.
func (h *Handle) noteFenced(why router.Reason) {
	switch why {
	case router.ReasonBehind, router.ReasonGuardFailed:
		behind := h.counters.fenced.Add(1)
		if behind < fencedSample || behind <= h.counters.unfenced.Load() || h.counters.fencedLog.Swap(true) {
			return
		}
		h.logger.Warn("pgryw: most reads are fenced ahead of every replica; use sessions, so that reads wait for their own writes only",
			"behind", behind, "served", h.counters.unfenced.Load())
	case router.ReasonFresh, router.ReasonExpected, router.ReasonUnfenced:
		h.counters.unfenced.Add(1)
	}
}
