package topology

import (
	"testing"
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// TestAStallIsNotTheUsualLag follows a replica that is 50 ms late, stands still
// for a second, and comes back.
func TestAStallIsNotTheUsualLag(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	// The primary passes ms at every instant ms, of which each tenth is sampled,
	// but for a second in which nothing is written.
	history := func(until int) []router.Sample {
		var h []router.Sample
		for ms := 10; ms <= until; ms += 10 {
			if ms <= 1300 || ms > 2300 {
				h = append(h, router.Sample{At: at(ms), LSN: lsn.LSN(ms)})
			}
		}
		return h
	}
	g := unknownLag
	for _, step := range []struct {
		name          string
		now, was, lsn int // the instant, and the positions replayed before and now
		usual, behind time.Duration
	}{
		{"its first answer", 100, 50, 50, 40 * time.Millisecond, 40 * time.Millisecond},
		{"it comes forward", 200, 50, 150, 40 * time.Millisecond, 40 * time.Millisecond},
		{"it stands still", 700, 150, 150, 40 * time.Millisecond, 540 * time.Millisecond},
		{"it still does", 1200, 150, 150, 40 * time.Millisecond, 1040 * time.Millisecond},
		{"it has caught up", 1300, 150, 1300, 1040 * time.Millisecond, 0},
		{"nothing was written", 2300, 1300, 1300, 1040 * time.Millisecond, 0},
		{"it has kept up", 2320, 1300, 2320, 10 * time.Millisecond, 0},
	} {
		g.note(history(step.now), lsn.LSN(step.was), lsn.LSN(step.lsn), at(step.now))
		if g.usual != step.usual || g.behind != step.behind {
			t.Errorf("%s: got %v, behind for %v, want %v, %v", step.name, g.usual, g.behind, step.usual, step.behind)
		}
	}
}
