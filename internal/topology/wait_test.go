package topology_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
)

// await starts to wait for node 1 and returns where the outcome will be.
func await(ctx context.Context, c *topology.Cluster, want lsn.Position, budget time.Duration) <-chan bool {
	outcome := make(chan bool, 1)
	go func() { outcome <- c.Await(ctx, 1, want, budget) }()
	synctest.Wait()
	return outcome
}

// fence returns a position of the scripted servers.
func fence(timeline uint32, l lsn.LSN) lsn.Position {
	return lsn.Position{System: 7, Timeline: timeline, LSN: l}
}

// TestReadersAreWokenInTheOrderOfTheirFences has a replica come forward in steps.
func TestReadersAreWokenInTheOrderOfTheirFences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		cfg, _ := scriptedConfig(t, p, r)
		cfg.Probe = onDemand
		c := start(t, cfg)
		if !c.Await(t.Context(), 1, fence(1, 0x3000000), 0) {
			t.Error("a reader waits for what is there")
		}
		far, near := await(t.Context(), c, fence(1, 0x3000200), time.Minute), await(t.Context(), c, fence(1, 0x3000100), time.Minute)
		before := r.asked()
		sleep(time.Second)
		if got := r.asked() - before; got < 60 || got > 100 || r.dialled() != 1 || p.asked() != 1 {
			t.Errorf("%d probes of the replica in a second on %d connections, and %d of the primary, want 62, 1, 1", got, r.dialled(), p.asked())
		}
		r.set(func(s *scripted) { s.position = "0/3000180" })
		sleep(20 * time.Millisecond)
		if len(near) != 1 || len(far) != 0 {
			t.Errorf("half way: woken %d, %d, want the nearer one", len(near), len(far))
		}
		r.set(func(s *scripted) { s.position = "0/3000200" })
		sleep(20 * time.Millisecond)
		if len(far) != 1 || !<-far || !<-near {
			t.Error("at the end: not woken, or not told that it is there")
		}
		must(t, c.Close())
	})
}

// TestAReaderStopsWaiting for the reasons that there are.
func TestAReaderStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		c := startScripted(t, p, r)
		want := fence(1, 0x3000100)
		stops := func(what string, outcome <-chan bool) {
			t.Helper()
			if len(outcome) != 1 || <-outcome {
				t.Errorf("%s: it waits on, or was told that the replica is there", what)
			}
		}

		spent := await(t.Context(), c, want, time.Second)
		sleep(time.Second)
		stops("its budget is spent", spent)

		ctx, cancel := context.WithCancel(t.Context())
		cancelled := await(ctx, c, want, time.Minute)
		cancel()
		synctest.Wait()
		stops("its context has ended", cancelled)

		outdated := await(t.Context(), c, want, time.Minute)
		r.set(func(s *scripted) { s.timeline, s.position = 2, "0/3000200" })
		sleep(20 * time.Millisecond)
		stops("the replica follows a later timeline", outdated)

		closed := await(t.Context(), c, fence(3, 0x3000100), time.Minute)
		must(t, c.Close())
		synctest.Wait()
		stops("the Cluster is closed", closed)
	})
}
