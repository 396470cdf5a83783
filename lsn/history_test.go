package lsn_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// write is one write on its way from its first byte to its acknowledgement.
type write struct {
	stage    stage
	before   lsn.Number   // the newest number when its flight began
	commit   lsn.Position // where it lies in the WAL
	captured lsn.Position // unknown if the capture failed
	doubt    lsn.Number   // then its number
}

type stage int

const (
	sent stage = iota
	committed
	answered // captured, or given up
	acknowledged
)

// history plays random writes against one primary that is promoted now and
// then without losing anything. Every write takes its steps in order; those of
// different writes meet in every order.
type history struct {
	rng     *rand.Rand
	primary lsn.Position
	fence   lsn.Fence
	open    []*write
	seen    []lsn.Position // commits of the acknowledged writes
}

func (h *history) step() {
	switch roll := h.rng.IntN(100); {
	case roll < 2:
		h.promote()
	case roll < 25 && len(h.open) < 6:
		h.open = append(h.open, &write{before: lsn.LastNumber()})
	case len(h.open) > 0:
		h.advance(h.open[h.rng.IntN(len(h.open))])
	}
	h.open = slices.DeleteFunc(h.open, func(w *write) bool { return w.stage == acknowledged })
}

func (h *history) advance(w *write) {
	switch w.stage {
	case sent:
		h.primary.LSN += lsn.LSN(1 + h.rng.IntN(100))
		w.commit = h.primary
	case committed:
		if w.commit.Timeline == h.primary.Timeline && h.rng.IntN(4) > 0 {
			w.captured = h.primary
		} else {
			w.doubt = lsn.NextNumber()
		}
	case answered:
		if w.doubt == 0 {
			h.fence.Raise(w.captured, w.before)
		} else {
			h.fence.Doubt(w.doubt)
		}
		h.seen = append(h.seen, w.commit)
	}
	w.stage++
}

// promote starts a new timeline: what was committed stays, what was only sent
// is lost, and nothing more is captured on the old one.
func (h *history) promote() {
	h.primary.Timeline++
	h.open = slices.DeleteFunc(h.open, func(w *write) bool { return w.stage == sent })
}

func TestAFenceCoversEveryAcknowledgedWriteOfAnyHistory(t *testing.T) {
	for seed := range uint64(200) {
		h := &history{rng: rand.New(rand.NewPCG(seed, 0)), primary: at(1, 1, 1000)}
		uncertain := 0
		for step := range 500 {
			h.step()
			state := h.fence.Load()
			if state.Uncertain() {
				uncertain++
				continue
			}
			for _, commit := range h.seen {
				if state.Position.LSN < commit.LSN {
					t.Fatalf("seed %d, step %d: a write at %v was acknowledged, the fence is at %v", seed, step, commit, state)
				}
			}
		}
		if uncertain == 0 || uncertain > 400 {
			t.Errorf("seed %d: uncertain in %d of 500 steps, this history shows little", seed, uncertain)
		}
		h.fence.Raise(h.primary, lsn.LastNumber())
		if got, want := h.fence.Load(), (lsn.State{Position: h.primary}); got != want {
			t.Errorf("seed %d: after one more capture the fence is at %v, want %v", seed, got, want)
		}
	}
}
