package topology_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/router"
)

func TestRolesAreFoundOutInAnyOrder(t *testing.T) {
	pg := startCalm(t)
	all := dsns(pg)
	c := start(t, config(t, onDemand, all[1], all[0], all[2]))
	s := c.Snapshot()
	wantStanding(t, s, "replica none", "primary none", "replica none")
	if s.Primary != 1 || s.Timeline != 1 || s.System == 0 || s.Single {
		t.Errorf("got primary %d, timeline %d, system %d, single %v", s.Primary, s.Timeline, s.System, s.Single)
	}
	for _, i := range []int{0, 2} {
		if p := s.Nodes[i].Pair; p.Position.System != s.System || p.Position.Timeline != 1 || p.Position.LSN == 0 || p.Asked.IsZero() {
			t.Errorf("node %d: got pair %+v", i, p)
		}
		if lag := s.Nodes[i].Lag; lag < 0 {
			t.Errorf("node %d: got lag %v", i, lag)
		}
	}
}

func TestNothingIsConnectedToBeforeStart(t *testing.T) {
	pg := startCalm(t)
	mark := pg.Mark()
	c := topology.New(config(t, time.Millisecond, dsns(pg)...))
	wantStanding(t, c.Snapshot(), "unknown undiscovered", "unknown undiscovered", "unknown undiscovered")
	must(t, c.Close())
	c.Start()
	if err := c.Discover(t.Context()); !errors.Is(err, topology.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	ran, err := pg.Ran(mark, "pg_is_in_recovery")
	if err != nil || len(ran) > 0 {
		t.Errorf("%d servers were asked, %v", len(ran), err)
	}
}

func TestANodeThatIsDownAtOpenJoinsLater(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1})
	late := pg.Standby(0)
	must(t, late.Stop(t.Context()))
	c := start(t, config(t, 5*time.Millisecond, dsns(pg)...))
	wantStanding(t, c.Snapshot(), "primary none", "unknown unreachable")
	if last := c.Stats()[1].LastError; last == "" {
		t.Error("its error is not told")
	}
	must(t, late.Start(t.Context()))
	eventually(t, "it joins", func() error {
		c.Touch()
		if got := standing(c.Snapshot(), 1); got != "replica none" {
			return errors.New(got)
		}
		return nil
	})
	if last := c.Stats()[1].LastError; last != "" {
		t.Errorf("its error is still told: %s", last)
	}
}

// hang listens and lets every client connect, and says nothing.
func hang(t *testing.T) (dsn string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}()
		}
	}()
	return "postgres://postgres@" + l.Addr().String() + "/postgres?sslmode=disable"
}

func TestAServerThatHangsIsUnreachableAndHoldsNobodyUp(t *testing.T) {
	pg := startCalm(t)
	began := time.Now()
	c := start(t, config(t, 10*time.Millisecond, hang(t), pg.Primary().DSN()))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Discover took %v", took)
	}
	eventually(t, "it is given up", func() error {
		if got := standing(c.Snapshot(), 0); got != "unknown unreachable" {
			return errors.New(got)
		}
		return nil
	})
	wantStanding(t, c.Snapshot(), "unknown unreachable", "primary none")
	p := primary(t, c)
	p.Release()
	began = time.Now()
	must(t, c.Close())
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("Close took %v", took)
	}
}

func TestOneServerUnderTwoAddressesIsOneNode(t *testing.T) {
	pg := startCalm(t)
	again := strings.Replace(pg.Primary().DSN(), "127.0.0.1", "localhost", 1)
	c := start(t, config(t, onDemand, pg.Standby(0).DSN(), again, pg.Primary().DSN()))
	wantStanding(t, c.Snapshot(), "replica none", "primary none", "unknown alias")
}

func TestAServerOfAnotherClusterIsForeign(t *testing.T) {
	pg := startCalm(t)
	other := pgcluster.New(t, pgcluster.Options{})
	c := start(t, config(t, onDemand, pg.Primary().DSN(), other.Primary().DSN()))
	s := c.Snapshot()
	if s.Primary < 0 || s.Nodes[1-s.Primary].Trouble != router.ReasonForeign {
		t.Fatalf("got primary %d, %s, %s", s.Primary, standing(s, 0), standing(s, 1))
	}
	if _, err := c.Replica(t.Context(), 1-s.Primary, true); err == nil {
		t.Error("it is lent out as a replica")
	}
	p := primary(t, c)
	defer p.Release()
	if p.Node() != s.Primary || p.System() != s.System {
		t.Errorf("got node %d of system %d as the primary", p.Node(), p.System())
	}
}

func TestWithoutAPrimaryTheErrorNamesEveryServer(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1})
	c := start(t, config(t, onDemand, dsns(pg)...))
	must(t, pg.Primary().Kill(t.Context()))
	_, err := c.Primary(t.Context())
	var none *topology.NoPrimaryError
	if !errors.As(err, &none) {
		t.Fatalf("got %v, want a NoPrimaryError", err)
	}
	if got := err.Error(); !strings.HasPrefix(got, "pgryw: no primary among node0 (primary: ") || !strings.HasSuffix(got, ", node1 (replica)") {
		t.Errorf("got %q", got)
	}
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) {
		t.Errorf("pgx's error is not in %#v", err)
	}
	wantStanding(t, c.Snapshot(), "primary unreachable", "replica none")
}

func TestASingleServerIsUsedAsItIs(t *testing.T) {
	pg := startCalm(t)
	for _, n := range []*pgcluster.Node{pg.Primary(), pg.Standby(0)} {
		t.Run(n.Name(), func(t *testing.T) {
			mark := pg.Mark()
			c := start(t, config(t, time.Millisecond, n.DSN()))
			if s := c.Snapshot(); !s.Single || s.Primary != 0 || s.System != 0 {
				t.Errorf("got %+v", s)
			}
			p := primary(t, c)
			defer p.Release()
			if c.Snapshot().System != p.System() || p.System() == 0 {
				t.Errorf("got system %d, the connection's is %d", c.Snapshot().System, p.System())
			}
			must(t, c.Rediscover(t.Context()))
			if ran, err := pg.Ran(mark, "pg_current_wal_flush_lsn"); err != nil || len(ran) > 1 {
				t.Errorf("%d servers were probed, %v", len(ran), err)
			}
		})
	}
}

func TestASingleServersErrorsArePgxsOwn(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, onDemand, strings.Replace(pg.Primary().DSN(), "/postgres?", "/nowhere?", 1)))
	_, err := c.Primary(t.Context())
	if _, ok := err.(*pgconn.ConnectError); !ok { //nolint:errorlint // it must not be wrapped
		t.Errorf("got %T: %v", err, err)
	}
	if got := c.Stats()[0].LastError; got == "" {
		t.Error("the error is not in the statistics")
	}
}

// TestASingleServerNeedNotKnowTheQuestions takes the right to ask them away, as
// a server that is not quite PostgreSQL would.
func TestASingleServerNeedNotKnowTheQuestions(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Setup: `CREATE ROLE plain LOGIN;
		REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`})
	plain := strings.Replace(pg.Primary().DSN(), "postgres@", "plain@", 1)
	p := primary(t, start(t, config(t, onDemand, plain)))
	defer p.Release()
	exec(t, p, "SELECT 1")
	if _, err := p.Capture(t.Context()); err == nil {
		t.Error("a position was captured")
	}
	c := start(t, config(t, onDemand, plain, plain))
	if _, err := c.Primary(t.Context()); err == nil || !strings.Contains(err.Error(), "42501") {
		t.Errorf("among others: got %v, want 42501", err)
	}
}

func TestConcurrentCallersShareARound(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, onDemand, dsns(pg)...))
	before := c.Stats()[0].ProbeCount
	errs := make(chan error)
	const callers = 50
	for range callers {
		go func() { errs <- c.Rediscover(t.Context()) }()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := c.Stats()[0].ProbeCount - before; got == 0 || got > callers/2 {
		t.Errorf("%d callers made %d rounds", callers, got)
	}
}

func TestStatsTellWhereEachServerIs(t *testing.T) {
	pg := startCalm(t)
	must(t, pg.CatchUp(t.Context()))
	c := start(t, config(t, onDemand, dsns(pg)...))
	p := primary(t, c)
	defer p.Release()
	stats := c.Stats()
	for i, s := range stats {
		if s.Label != fmt.Sprintf("node%d", i) || s.Position.LSN == 0 || s.DurableLSN == 0 || s.ProbeCount == 0 || s.LastError != "" || s.Blind {
			t.Errorf("got %+v", s)
		}
	}
	if pool := stats[0].Pool; pool.Acquired != 1 || pool.Total != 1 {
		t.Errorf("got pool %+v", pool)
	}
	if stats[0].LagBytes != -1 || stats[1].LagBytes < 0 {
		t.Errorf("got lags of %d and %d bytes", stats[0].LagBytes, stats[1].LagBytes)
	}
}
