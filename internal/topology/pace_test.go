package topology_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestProbesSlowDownWhileNobodyUsesTheHandle counts them in spans of a minute.
func TestProbesSlowDownWhileNobodyUsesTheHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		c := startScripted(t, p, r)
		count := func(span time.Duration, use func()) int {
			before := p.asked()
			for end := time.Now().Add(span); time.Now().Before(end); {
				use()
				sleep(100 * time.Millisecond)
			}
			return p.asked() - before
		}
		if got := count(time.Minute, c.Touch); got < 230 || got > 250 {
			t.Errorf("%d probes in a minute of use, want one each 250 ms", got)
		}
		count(time.Minute, func() {})
		if got := count(time.Minute, func() {}); got < 11 || got > 15 {
			t.Errorf("%d probes in a minute without use, want one each 5 s or a little less", got)
		}
		before := p.asked() + r.asked()
		c.Touch()
		synctest.Wait()
		if got := p.asked() + r.asked() - before; got != 2 {
			t.Errorf("the first use after a rest has asked %d servers, want 2", got)
		}
		if got := count(10*time.Second, c.Touch); got < 38 || got > 42 {
			t.Errorf("%d probes in 10 s of use after a rest, want one each 250 ms", got)
		}
		must(t, c.Close())
	})
}

// TestAServerThatIsDownIsAskedEverMoreSeldom counts connections while the
// handle is in use.
func TestAServerThatIsDownIsAskedEverMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		r.refusal = "57P03"
		c := startScripted(t, p, r)
		wantStanding(t, c.Snapshot(), "primary none", "unknown unreachable")
		before := r.dialled()
		for range 600 {
			c.Touch()
			sleep(100 * time.Millisecond)
		}
		if got := r.dialled() - before; got < 12 || got > 20 {
			t.Errorf("%d connections in a minute, want one each 5 s once it has been down for a while", got)
		}
		r.set(func(s *scripted) { s.refusal = "" })
		sleep(5 * time.Second)
		wantStanding(t, c.Snapshot(), "primary none", "replica none")
		must(t, c.Close())
	})
}

// TestFailingCallersDoNotMakeProbesRunBackToBack has every borrower fail.
func TestFailingCallersDoNotMakeProbesRunBackToBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		c := startScripted(t, p, r)
		for _, s := range []*scripted{p, r} {
			s.set(func(s *scripted) { s.refusal = "53300" })
		}
		before, began := p.asked()+r.asked(), time.Now()
		for range 200 {
			if _, err := c.Replica(t.Context(), 1, true); err == nil {
				t.Fatal("a connection was lent out")
			}
			if _, err := c.Primary(t.Context()); err == nil {
				t.Fatal("a connection was lent out")
			}
			sleep(time.Millisecond)
		}
		took := time.Since(began)
		if got := p.asked() + r.asked() - before; time.Duration(got) > 2*took/(10*time.Millisecond) {
			t.Errorf("%d probes of two servers in %s, want no more than one each 10 ms", got, took)
		}
		must(t, c.Close())
	})
}

// TestCallersAtTheSameTimeShareARound holds the answers back until all of them
// wait.
func TestCallersAtTheSameTimeShareARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		cfg, _ := scriptedConfig(t, p, r)
		cfg.Probe = onDemand
		c := start(t, cfg)
		mute := make(chan struct{})
		r.set(func(s *scripted) { s.mute = mute })
		asked := p.asked() + r.asked()
		errs := make(chan error, 20)
		for range cap(errs) {
			go func() { errs <- c.Rediscover(t.Context()) }()
		}
		synctest.Wait()
		if len(errs) > 0 {
			t.Error("a caller did not wait for the answer")
		}
		if err := c.Rediscover(within(t, time.Second)); err == nil {
			t.Error("a caller outwaited its context")
		}
		close(mute)
		for range cap(errs) {
			must(t, <-errs)
		}
		if got := p.asked() + r.asked() - asked; got != 2 {
			t.Errorf("%d questions, want one to each server", got)
		}
		must(t, c.Close())
	})
}
