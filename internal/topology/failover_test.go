package topology_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
)

const counterTable = "CREATE TABLE counter (id text, n bigint)"

func TestAPromotionIsSeen(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 2, Setup: counterTable})
	old, next, other := pg.Primary(), pg.Standby(0), pg.Standby(1)
	cfg := config(t, onDemand, dsns(pg)...)
	log := newLog()
	cfg.Logger = log.logger()
	c := start(t, cfg)
	fence := write(t, c)
	lentPrimary, lentNext, lentOther := primary(t, c), replica(t, c, 1), replica(t, c, 2)

	must(t, old.Kill(ctx), next.Promote(ctx), other.Repoint(ctx, next))
	p := primary(t, c) // finds it out by itself
	if p.Node() != 1 {
		t.Errorf("got node %d as the primary, want 1", p.Node())
	}
	s := rediscover(t, c)
	wantStanding(t, s, "unknown unreachable", "primary none", "replica none")
	if s.Primary != 1 || s.Timeline != 2 || s.System != fence.System {
		t.Errorf("got primary %d, timeline %d, system %d", s.Primary, s.Timeline, s.System)
	}
	if lentPrimary.Current() || lentNext.Current() || !lentOther.Current() {
		t.Errorf("current: the old primary's %v, the promoted one's %v, the other replica's %v",
			lentPrimary.Current(), lentNext.Current(), lentOther.Current())
	}
	for _, q := range []*topology.Conn{lentPrimary, lentNext, lentOther, p} {
		q.Release()
	}
	if p := primary(t, c); pid(p) == pid(lentNext) {
		t.Error("a connection to the standby is lent out as the primary's")
	} else {
		p.Release()
	}

	want := write(t, c)
	if want.Timeline != 2 || !want.After(fence) {
		t.Errorf("got %v after %v", want, fence)
	}
	must(t, other.WaitReplay(ctx, want.LSN))
	q := replica(t, c, 2)
	defer q.Release()
	rediscover(t, c)
	if !q.Fresh(want) {
		t.Errorf("the replica that follows is not fresh: %+v", c.Snapshot().Nodes[2])
	}
	if q.Fresh(fence) {
		t.Error("it is fresh for a fence of the old timeline")
	}

	must(t, old.Rejoin(ctx, next))
	wantStanding(t, rediscover(t, c), "replica none", "primary none", "replica none")
	must(t, c.Close()) // which waits until everything has been said
	for line, want := range map[string]int{
		"server is in use": 5, "server cannot be reached": 1, "role=primary timeline=2": 1, "pg_monitor": 0,
	} {
		if got := log.count(line); got != want {
			t.Errorf("%q was said %d times, want %d:\n%s", line, got, want, log)
		}
	}
}

// TestAPromotedServerSaysSoItself looks at a connection before any probe has
// noticed.
func TestAPromotedServerSaysSoItself(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1})
	c := start(t, config(t, onDemand, dsns(pg)...))
	p := replica(t, c, 1)
	defer p.Release()
	must(t, pg.Standby(0).Promote(t.Context()))
	eventually(t, "the connection is no replica's any more", func() error {
		exec(t, p, "SELECT 1")
		if p.Current() {
			return errors.New("it is")
		}
		return nil
	})
}

// TestTheHigherTimelineIsThePrimary promotes a standby while the primary goes
// on.
func TestTheHigherTimelineIsThePrimary(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: counterTable})
	c := start(t, config(t, onDemand, dsns(pg)...))
	p := primary(t, c)
	defer p.Release()
	must(t, pg.Standby(0).Promote(t.Context()))
	s := rediscover(t, c)
	wantStanding(t, s, "unknown deposed", "primary none")
	if s.Primary != 1 || s.Timeline != 2 {
		t.Errorf("got primary %d on timeline %d", s.Primary, s.Timeline)
	}
	if p.Current() {
		t.Error("a connection to the old one is still the primary's")
	}
}

// TestNobodyServesATimelineThatTwoHaveHeld promotes two standbys of a dead
// primary: both go on on timeline 2.
func TestNobodyServesATimelineThatTwoHaveHeld(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 3})
	one, two, three := pg.Standby(0), pg.Standby(1), pg.Standby(2)
	cfg := config(t, onDemand, dsns(pg)...)
	log := newLog()
	cfg.Logger = log.logger()
	c := start(t, cfg)
	must(t, pg.Primary().Kill(ctx), one.Promote(ctx), three.Repoint(ctx, one))
	wantStanding(t, rediscover(t, c), "unknown unreachable", "primary none", "replica none", "replica none")
	must(t, two.Promote(ctx))
	wantStanding(t, rediscover(t, c), "unknown unreachable", "primary none", "unknown deposed", "replica split")
	rediscover(t, c)       // each was asked after the other had answered: that is proof
	must(t, two.Kill(ctx)) // which does not tell whom the replica has followed
	wantStanding(t, rediscover(t, c), "unknown unreachable", "primary none", "unknown unreachable", "replica split")
	must(t, three.Promote(ctx))
	wantStanding(t, rediscover(t, c), "unknown unreachable", "unknown deposed", "unknown unreachable", "primary none")
	must(t, c.Close()) // which waits until everything has been said
	if got := log.count("two servers have been primary on one timeline"); got != 1 {
		t.Errorf("said %d times:\n%s", got, log)
	}
}

// TestAWriterIsFreedFromAFrozenPrimaryByAPromotion has it wait for a connection
// that the old primary will never complete.
func TestAWriterIsFreedFromAFrozenPrimaryByAPromotion(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: counterTable})
	c := start(t, config(t, 20*time.Millisecond, dsns(pg)...))
	must(t, pg.Primary().Freeze(ctx))
	node := make(chan int)
	go func() {
		p, err := c.Primary(ctx)
		if err != nil {
			t.Error(err)
			node <- -1
			return
		}
		defer p.Release()
		node <- p.Node()
	}()
	eventually(t, "it is waiting", func() error {
		c.Touch()
		if pool := c.Stats()[0].Pool; pool.Constructing == 0 {
			return fmt.Errorf("got pool %+v", pool)
		}
		return nil
	})
	must(t, pg.Standby(0).Promote(ctx))
	eventually(t, "the promotion is seen", func() error {
		c.Touch()
		if s := c.Snapshot(); s.Primary != 1 {
			return errors.New("it is not")
		}
		return nil
	})
	if got := <-node; got != 1 {
		t.Errorf("got a connection to node %d", got)
	}
}

// TestAFrozenServerIsUnreachableUntilItThaws has the probe of one node time out
// while the others are asked as before.
func TestAFrozenServerIsUnreachableUntilItThaws(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 2})
	c := start(t, config(t, 20*time.Millisecond, dsns(pg)...))
	must(t, pg.Standby(0).Freeze(ctx))
	eventually(t, "it is unreachable", func() error {
		c.Touch()
		if got := standing(c.Snapshot(), 1); got != "replica unreachable" {
			return errors.New(got)
		}
		return nil
	})
	before := c.Stats()
	eventually(t, "the others are still asked", func() error {
		c.Touch()
		now := c.Stats()
		if now[0].ProbeCount < before[0].ProbeCount+10 || now[2].ProbeCount < before[2].ProbeCount+10 {
			return errors.New("they are not")
		}
		return nil
	})
	wantStanding(t, c.Snapshot(), "primary none", "replica unreachable", "replica none")
	must(t, pg.Standby(0).Thaw(ctx))
	eventually(t, "it is back", func() error {
		c.Touch()
		if got := standing(c.Snapshot(), 1); got != "replica none" {
			return errors.New(got)
		}
		return nil
	})
}

// TestARestartedPrimaryVoidsItsConnectionsAndKeepsItsRole restarts it under an
// idle pool.
func TestARestartedPrimaryVoidsItsConnectionsAndKeepsItsRole(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1})
	c := start(t, config(t, onDemand, dsns(pg)...))
	var lent []*topology.Conn
	for range 5 {
		lent = append(lent, primary(t, c))
	}
	for _, p := range lent {
		p.Release()
	}
	must(t, pg.Primary().Restart(t.Context()))
	wantStanding(t, rediscover(t, c), "primary none", "replica none")
	p := primary(t, c)
	defer p.Release()
	exec(t, p, "SELECT 1")
	if slices.ContainsFunc(lent, func(q *topology.Conn) bool { return pid(q) == pid(p) }) {
		t.Error("a connection from before is lent out")
	}
}
