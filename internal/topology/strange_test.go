package topology_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/router"
)

// TestAConnectionThatHasIdledIsPinged ends idle connections behind the pool's
// back. One that idled for less than a second is not pinged.
func TestAConnectionThatHasIdledIsPinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := primaryServer()
		c := startScripted(t, p)
		a, b := primary(t, c), primary(t, c)
		a.Release()
		b.Release()
		p.drop()
		sleep(time.Second)
		got := primary(t, c)
		if got != a && got != b {
			t.Error("after a second one is not lent out any more")
		}
		got.Release()
		sleep(time.Second + time.Millisecond)
		if got := primary(t, c); got == a || got == b || p.dialled() != 3 {
			t.Errorf("after more than a second got %p behind %p and %p, and %d connections were made, want 3", got, a, b, p.dialled())
		}
		must(t, c.Close())
	})
}

// TestAPingThatIsNotAnsweredIsGivenUp bounds it by the pool's option.
func TestAPingThatIsNotAnsweredIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := primaryServer()
		cfg, _ := scriptedConfig(t, p)
		cfg.Pool.PingTimeout = 3 * time.Second
		cfg.Nodes[0].Conn.ConnectTimeout = 5 * time.Second
		c := start(t, cfg)
		primary(t, c).Release()
		sleep(2 * time.Second)
		p.set(func(s *scripted) { s.mute = make(chan struct{}) })
		began := time.Now()
		_, err := c.Primary(t.Context())
		if took := time.Since(began); err == nil || took != 8*time.Second {
			t.Errorf("got %v after %s, want a failure after the 3 s of the ping and the 5 s of a new connection", err, took)
		}
		must(t, c.Close())
	})
}

// TestAConnectionThatHangsWhileItIsMadeIsGivenUp has servers that let everybody
// in and then answer nothing.
func TestAConnectionThatHangsWhileItIsMadeIsGivenUp(t *testing.T) {
	for connectTimeout, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, 0: 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p := primaryServer()
			p.mute = make(chan struct{})
			cfg, _ := scriptedConfig(t, p)
			cfg.Nodes[0].Conn.ConnectTimeout = connectTimeout
			c := start(t, cfg)
			began := time.Now()
			_, err := c.Primary(t.Context())
			if took := time.Since(began); err == nil || took != want {
				t.Errorf("connect_timeout %s: got %v after %s, want %s", connectTimeout, err, took, want)
			}
			must(t, c.Close())
		})
	}
}

// TestANodeFarAwayIsReached has every message to a server take 150 ms.
func TestANodeFarAwayIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		cfg, _ := scriptedConfig(t, p, r)
		dial := cfg.Nodes[1].Conn.DialFunc
		cfg.Nodes[1].Conn.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			select {
			case <-time.After(1200 * time.Millisecond): // as many round trips as TCP, TLS and SCRAM need
				return dial(ctx, network, addr)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		began := time.Now()
		c := start(t, cfg)
		if took := time.Since(began); took > time.Second {
			t.Errorf("Discover took %s", took)
		}
		wantStanding(t, c.Snapshot(), "primary none")
		sleep(2 * time.Second)
		wantStanding(t, c.Snapshot(), "primary none", "replica none")
		must(t, c.Close())
	})
}

// TestAPoolerIsNotBelievedWhatItSaysOfRecovery has poolers report
// in_hot_standby for another server than the one that answers.
func TestAPoolerIsNotBelievedWhatItSaysOfRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		p.pooled, r.pooled, p.hotStandby, r.hotStandby = true, true, "on", "off"
		cfg, log := scriptedConfig(t, p, r)
		c := start(t, cfg)
		a, b := primary(t, c), replica(t, c, 1)
		if a.Direct() || b.Direct() || !a.Current() || !b.Current() {
			t.Errorf("direct %t, %t, current %t, %t", a.Direct(), b.Direct(), a.Current(), b.Current())
		}
		if p.dialled() != 2 || r.dialled() != 2 {
			t.Errorf("%d and %d connections, want one each beside the probe's", p.dialled(), r.dialled())
		}
		must(t, c.Close())
		if got := log.count("there is a pooler"); got != 2 {
			t.Errorf("said %d times, want once of each server:\n%s", got, log)
		}
	})
}

// TestAServerIsNotBelievedAnEmptyOrBrokenAnswer has the replica say nothing of
// its replay, and then things that cannot be.
func TestAServerIsNotBelievedAnEmptyOrBrokenAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := primaryServer(), replicaServer()
		r.position = null
		c := startScripted(t, p, r)
		wantStanding(t, c.Snapshot(), "primary none", "replica none")
		if pair := c.Snapshot().Nodes[1].Pair; pair != (router.Pair{}) {
			t.Errorf("without a position it has the pair %v", pair)
		}
		for _, spoil := range []func(*scripted){
			func(s *scripted) { s.position = "0/30000G0" },
			func(s *scripted) { s.position, s.started = "0/3000000", null },
		} {
			r.set(spoil)
			must(t, c.Rediscover(t.Context()))
			wantStanding(t, c.Snapshot(), "primary none", "replica unreachable")
		}
		must(t, c.Close())
	})
}

// TestALoggerMayUseTheHandle has one that asks for the primary whenever it is
// told something.
func TestALoggerMayUseTheHandle(t *testing.T) {
	p, r := primaryServer(), replicaServer()
	cfg, _ := scriptedConfig(t, p, r)
	results := make(chan error, 10)
	var c *topology.Cluster
	ready := make(chan struct{})
	cfg.Logger = slog.New(handlerFunc(func(ctx context.Context) {
		<-ready
		ctx, cancel := context.WithTimeout(ctx, pollBound)
		defer cancel()
		results <- c.Rediscover(ctx)
		c.Stats()
	}))
	c = start(t, cfg)
	close(ready)
	for range 2 {
		if err := <-results; err != nil && !errors.Is(err, topology.ErrClosed) {
			t.Error(err)
		}
	}
	must(t, c.Close())
}

// handlerFunc is a slog.Handler that only notes that there is something.
type handlerFunc func(context.Context)

// Enabled implements slog.Handler.
func (handlerFunc) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup implements slog.Handler.
func (f handlerFunc) WithGroup(string) slog.Handler { return f }

// Handle implements slog.Handler.
func (f handlerFunc) Handle(ctx context.Context, _ slog.Record) error {
	f(ctx)
	return nil
}
