package topology_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
)

// promote makes a scripted replica the primary of the next timeline.
func promote(s *scripted) {
	s.set(func(s *scripted) { s.recovering, s.timeline = false, s.timeline+1 })
}

// inBackground borrows the primary's connection in a goroutine of its own.
func inBackground(t *testing.T, c *topology.Cluster) <-chan *topology.Conn {
	t.Helper()
	got := make(chan *topology.Conn, 1)
	go func() {
		p, err := c.Primary(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- p
	}()
	synctest.Wait()
	return got
}

// isLent checks that a borrower got the new primary's connection within a second.
func isLent(t *testing.T, c *topology.Cluster, got <-chan *topology.Conn, since time.Time) {
	t.Helper()
	c.Touch()
	p := <-got
	if took := time.Since(since); p == nil || p.Node() != 1 || !p.Current() || took > time.Second {
		t.Errorf("got %v after %s, want the new primary's within a second", p, took)
	}
}

// TestAFailoverIsNotHeldUpByAConnectionThatHangs has the primary fall silent
// while a connection to it is being made, and the replica promoted.
func TestAFailoverIsNotHeldUpByAConnectionThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := primaryServer(), replicaServer()
		c := startScripted(t, old, next)
		old.set(func(s *scripted) { s.mute = make(chan struct{}) })
		got := inBackground(t, c)
		promote(next)
		isLent(t, c, got, time.Now())
		must(t, c.Close())
	})
}

// TestAFailoverIsNotHeldUpByAPingThatHangs has the primary fall silent while its
// idle connections are pinged. Once it has been deposed it speaks again, and may
// still be written to.
func TestAFailoverIsNotHeldUpByAPingThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := primaryServer(), replicaServer()
		c := startScripted(t, old, next)
		for _, p := range []*topology.Conn{primary(t, c), primary(t, c), primary(t, c)} {
			p.Release()
		}
		sleep(2 * time.Second)
		mute := make(chan struct{})
		old.set(func(s *scripted) { s.mute = mute })
		got := inBackground(t, c)
		promote(next)
		old.set(func(s *scripted) { s.mute = nil })
		isLent(t, c, got, time.Now())
		close(mute)
		must(t, c.Close())
	})
}

// TestAFailoverIsNotHeldUpByTheQueue has a borrower wait for another, who does
// not give the old primary's only connection back.
func TestAFailoverIsNotHeldUpByTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := primaryServer(), replicaServer()
		cfg, _ := scriptedConfig(t, old, next)
		cfg.Pool.MaxConns = 1
		c := start(t, cfg)
		kept := primary(t, c)
		got := inBackground(t, c)
		promote(next)
		isLent(t, c, got, time.Now())
		if kept.Current() {
			t.Error("the connection to the old primary is current still")
		}
		must(t, c.Close())
	})
}

// TestAnAddressThatMovedIsFollowed has one lead to the old primary at first, and
// then to the new one, while the probe's connection to the old one goes on.
func TestAnAddressThatMovedIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next, replica := primaryServer(), primaryServer(), replicaServer()
		next.started, next.timeline = "0002a2", 2
		cfg, _ := scriptedConfig(t, old, replica)
		var moved atomic.Bool
		cfg.Nodes[0].Conn.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if moved.Load() {
				return next.dial(ctx, network, addr)
			}
			return old.dial(ctx, network, addr)
		}
		c := start(t, cfg)
		moved.Store(true)
		before := old.asked()
		p := primary(t, c)
		if s := c.Snapshot(); s.Timeline != 2 || !p.Current() || next.asked() == 0 {
			t.Errorf("timeline %d, current %t, the new server was probed %d times", s.Timeline, p.Current(), next.asked())
		}
		sleep(time.Second)
		if got := old.asked(); got != before {
			t.Errorf("the old server was asked %d times more", got-before)
		}
		must(t, c.Close())
	})
}

// TestAServerThatIsOnlyCrowdedStaysInUse has one refuse new connections, the
// probe's too.
func TestAServerThatIsOnlyCrowdedStaysInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		c := startScripted(t, p, r)
		held := replica(t, c, 1)
		r.set(func(s *scripted) {
			s.refusal = "53300"
			_ = s.conns[1].Close() // the probe's
		})
		must(t, c.Rediscover(t.Context()))
		if _, err := c.Replica(t.Context(), 1, true); err == nil {
			t.Error("a connection was lent out")
		}
		wantStanding(t, c.Snapshot(), "primary none", "replica none")
		if got := c.Stats()[1].LastError; got == "" {
			t.Error("the probe has not noticed")
		}
		if !held.Current() {
			t.Error("the connection that there is is not current any more")
		}
		must(t, c.Close())
	})
}
