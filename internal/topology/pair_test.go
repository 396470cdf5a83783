package topology

import (
	"testing"
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// origin is the zero of the instants in these tests, in milliseconds.
var origin = time.Now()

func ms(n int) time.Time { return origin.Add(time.Duration(n) * time.Millisecond) }

var (
	runA = server{system: 7, started: "100.5", addr: "10.0.0.1", port: "5432"}
	runB = server{system: 7, started: "200.5", addr: "10.0.0.1", port: "5432"}
)

// pairOf returns what a server said of itself between two instants.
func pairOf(s server, timeline uint32, l lsn.LSN, asked, answered int) *heldPair {
	position := lsn.Position{System: s.system, Timeline: timeline, LSN: l}
	return &heldPair{Pair: router.Pair{Position: position, Asked: ms(asked)}, server: s, answered: ms(answered)}
}

// TestAPairSupersedesAnotherIfItIsNews has an old pair, asked for at 10 ms and
// answered at 20 ms.
func TestAPairSupersedesAnotherIfItIsNews(t *testing.T) {
	old := pairOf(runA, 2, 100, 10, 20)
	for name, c := range map[string]struct {
		p    *heldPair
		want bool
	}{
		"the same answer":                            {pairOf(runA, 2, 100, 10, 20), false},
		"the same position, asked for later":         {pairOf(runA, 2, 100, 11, 21), true},
		"the same position, asked for earlier":       {pairOf(runA, 2, 100, 9, 30), false},
		"higher":                                     {pairOf(runA, 2, 101, 15, 25), true},
		"higher, asked for earlier":                  {pairOf(runA, 2, 101, 5, 25), true},
		"lower, overtaken":                           {pairOf(runA, 2, 99, 15, 25), false},
		"lower, asked for as the old one came":       {pairOf(runA, 2, 99, 20, 25), false},
		"lower, asked for after the old one came":    {pairOf(runA, 2, 99, 21, 25), true},
		"a later timeline, overtaken":                {pairOf(runA, 3, 300, 15, 25), false},
		"a later timeline":                           {pairOf(runA, 3, 90, 21, 25), true},
		"an earlier timeline, overtaken":             {pairOf(runA, 1, 300, 15, 25), false},
		"another run, overtaken":                     {pairOf(runB, 2, 300, 15, 25), false},
		"another run":                                {pairOf(runB, 2, 90, 21, 25), true},
		"another address of the server, overtaken":   {pairOf(elsewhere(runA), 2, 300, 15, 25), false},
		"another address of the server, asked later": {pairOf(elsewhere(runA), 2, 90, 21, 25), true},
	} {
		if got := c.p.supersedes(old); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
	if !old.supersedes(nil) {
		t.Error("the first pair is not held")
	}
}

func elsewhere(s server) server {
	s.addr = "10.0.0.9"
	return s
}

// TestAServerIsOnTheTimelineThatItHasOnceFollowed has one that was first known
// to follow timeline 2 at 20 ms, and tells timeline 1 while its receiver is down.
func TestAServerIsOnTheTimelineThatItHasOnceFollowed(t *testing.T) {
	old := pairOf(runA, 2, 100, 10, 20)
	old.follow(nil)
	for name, c := range map[string]struct {
		p    *heldPair
		want uint32
	}{
		"its receiver is down":            {pairOf(runA, 1, 110, 30, 40), 2},
		"an answer from before":           {pairOf(runA, 1, 110, 15, 40), 1},
		"another run knows nothing of it": {pairOf(runB, 1, 110, 30, 40), 1},
		"it follows a later one":          {pairOf(runA, 3, 110, 30, 40), 3},
	} {
		c.p.follow(old)
		if got := c.p.Position.Timeline; got != c.want {
			t.Errorf("%s: timeline %d, want %d", name, got, c.want)
		}
	}
}
