package demo

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// options are those of a run that is long enough for reads before and after the
// standbys have caught up.
func options() Options { return Options{Seed: 1, Users: 8, Length: 2 * time.Second} }

// newCluster starts a primary and two standbys that are 250 ms late, and log
// what they execute.
func newCluster(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	late := map[string]string{"recovery_min_apply_delay": "250ms"}
	return pgcluster.New(t, pgcluster.Options{Standbys: 2, NodeSettings: map[int]map[string]string{1: late, 2: late}})
}

func TestTheThreeWaysDoTheSameAndOnlyTheNaiveOneIsStale(t *testing.T) {
	c := newCluster(t)
	mark := c.Mark()
	results, err := Run(t.Context(), servers.Of(c), options())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(results), 3; got != want {
		t.Fatalf("got %d results, want %d", got, want)
	}
	var steps [3]int64 // by kind
	for id := range options().Users {
		for _, s := range stream(options().Seed, id, options().Length) {
			steps[s.kind]++
		}
	}
	for _, r := range results {
		if r.Writes != steps[writeProfile] || r.OwnReads != steps[readProfile] || r.Reads != steps[readProfile]+steps[readProduct] {
			t.Errorf("%s: got %d writes, %d reads of own writes, %d reads, want %d, %d, %d", r.Way,
				r.Writes, r.OwnReads, r.Reads, steps[writeProfile], steps[readProfile], steps[readProfile]+steps[readProduct])
		}
		if r.P50 <= 0 || r.P95 < r.P50 {
			t.Errorf("%s: got p50 %s, p95 %s", r.Way, r.P50, r.P95)
		}
	}
	primary, naive, pgryw := results[0], results[1], results[2]
	if primary.StaleReads != 0 || primary.StandbyReads != 0 {
		t.Errorf("all on the primary: got %d stale reads, %d from standbys, want none", primary.StaleReads, primary.StandbyReads)
	}
	if naive.StaleReads == 0 || naive.StandbyReads != naive.Reads {
		t.Errorf("naive: got %d stale reads, %d of %d from standbys, want some and all", naive.StaleReads, naive.StandbyReads, naive.Reads)
	}
	if pgryw.StaleReads != 0 {
		t.Errorf("pgryw: got %d stale reads", pgryw.StaleReads)
	}
	if pgryw.StandbyReads == 0 || pgryw.StandbyReads == pgryw.Reads {
		t.Errorf("pgryw: got %d of %d reads from standbys, want some, but not those behind a write", pgryw.StandbyReads, pgryw.Reads)
	}
	checkReasons(t, pgryw)
	checkWitness(t, c, mark, results)
}

// checkReasons checks that the reasons account for every statement.
func checkReasons(t *testing.T, r Result) {
	t.Helper()
	var all, replica int64
	for reason, n := range r.Reasons {
		all += int64(n)
		if where, _ := explain(reason); where == "replica" {
			replica += int64(n)
		}
	}
	if got, want := all, r.Reads+r.Writes; got != want {
		t.Errorf("got reasons for %d statements, want %d", got, want)
	}
	if got, want := replica, r.StandbyReads; got != want {
		t.Errorf("got reasons for %d reads on replicas, want the %d that standbys answered", got, want)
	}
	if got, want := int64(r.Reasons[router.ReasonWrite]), r.Writes; got != want {
		t.Errorf("got %d writes among the reasons, want %d", got, want)
	}
}

// checkWitness compares the reads of all ways with the servers' own logs. A read
// that a guard rejected has run on a standby too, but did not come from there.
func checkWitness(t *testing.T, c *pgcluster.Cluster, mark pgcluster.Mark, results []Result) {
	t.Helper()
	var reads, standbyReads, rejected int64
	for _, r := range results {
		reads += r.Reads
		standbyReads += r.StandbyReads
		rejected += int64(r.Reasons[router.ReasonGuardFailed])
	}
	var logged, standbyLogged int64
	for i, n := range c.Nodes() {
		statements, err := n.Statements(mark)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			switch {
			case s.SQL == writeProfileSQL && i > 0:
				t.Errorf("%s executed a write", n.Name())
			case s.SQL == readProfileSQL || s.SQL == readProductSQL:
				logged++
				if i > 0 {
					standbyLogged++
				}
			}
		}
	}
	if logged < reads || logged > reads+rejected {
		t.Errorf("the servers logged %d reads, want %d and at most %d rejected ones", logged, reads, rejected)
	}
	if standbyLogged < standbyReads || standbyLogged > standbyReads+rejected {
		t.Errorf("the standbys logged %d reads, want the %d counted and at most %d rejected ones", standbyLogged, standbyReads, rejected)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	o := options()
	o.Length = time.Minute
	o.Progress = func(p Progress) {
		if p.Reads > 0 {
			cancel(why)
		}
	}
	if _, err := Run(ctx, servers.Of(newCluster(t)), o); !errors.Is(err, why) {
		t.Errorf("got error %v, want %v", err, why)
	}
}

func TestAServerThatFailsEndsTheRunWithTheNameOfTheWay(t *testing.T) {
	c := newCluster(t)
	o := options()
	var kill sync.Once
	o.Progress = func(p Progress) {
		if p.Way == "naive replica reads" && p.Reads > 0 {
			kill.Do(func() {
				if err := c.Standby(0).Kill(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if _, err := Run(t.Context(), servers.Of(c), o); err == nil || !strings.HasPrefix(err.Error(), "naive replica reads: ") {
		t.Errorf("got error %v, want that of the way whose server was killed", err)
	}
}
