package pgcluster_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

func TestFrozenNodeDoesNotAnswerUntilThawed(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1})
	ctx, standby := t.Context(), c.Standby(0)
	conn := connect(t, standby.DSN())
	do(t, standby.Freeze(ctx))

	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "SELECT 1")
		answer <- err
	}()
	if err := standby.Exec(within(t, 200*time.Millisecond), "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("new connection: got %v, want %v", err, context.DeadlineExceeded)
	}
	select {
	case err := <-answer:
		t.Errorf("open connection: got an answer (%v) from a frozen server", err)
	default:
	}
	for name, fault := range map[string]func(context.Context) error{
		"Freeze": standby.Freeze, "Stop": standby.Stop, "Restart": standby.Restart, "Promote": standby.Promote,
		"PauseReplay": standby.PauseReplay, "Detach": standby.Detach, "Start": standby.Start,
	} {
		if err := fault(ctx); err == nil {
			t.Errorf("%s of a frozen node did not fail", name)
		}
	}
	do(t, c.CatchUp(ctx)) // passes over it

	do(t, standby.Thaw(ctx))
	if err := <-answer; err != nil {
		t.Errorf("open connection after the thaw: %v", err)
	}
	do(t, standby.Exec(ctx, "SELECT 1"))
	do(t, standby.Thaw(ctx)) // changes nothing
}

func TestStoppedNodeComesBackOnItsPortWithItsData(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
	ctx := t.Context()
	stops := []struct {
		name string
		stop func(*pgcluster.Node) error
	}{
		{"Stop", func(n *pgcluster.Node) error { return n.Stop(ctx) }},
		{"StopImmediate", func(n *pgcluster.Node) error { return n.StopImmediate(ctx) }},
		{"Kill", func(n *pgcluster.Node) error { return n.Kill(ctx) }},
		{"Freeze and Kill", func(n *pgcluster.Node) error { return errors.Join(n.Freeze(ctx), n.Kill(ctx)) }},
	}
	for _, test := range stops {
		for _, n := range c.Nodes() {
			do(t, c.Primary().Exec(ctx, "INSERT INTO t VALUES (1)"))
			do(t, c.CatchUp(ctx))
			rows, addr := ask(t, n, "SELECT count(*) FROM t"), n.Addr()
			do(t, test.stop(n))
			if err := n.Exec(ctx, "SELECT 1"); err == nil {
				t.Errorf("%s of %s: it still answers", test.name, n.Name())
			}
			if err := test.stop(n); err == nil {
				t.Errorf("%s of %s: the second one did not fail", test.name, n.Name())
			}
			do(t, n.Start(ctx))
			if err := n.Start(ctx); err == nil {
				t.Errorf("%s of %s: the second start did not fail", test.name, n.Name())
			}
			if got := ask(t, n, "SELECT count(*) FROM t"); got != rows || n.Addr() != addr {
				t.Errorf("%s of %s: got %s rows on %s, want %s on %s", test.name, n.Name(), got, n.Addr(), rows, addr)
			}
		}
	}
}

func TestKilledBackendTakesEveryConnectionWithIt(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1})
	for _, n := range c.Nodes() {
		victim, bystander := connect(t, n.DSN()), connect(t, n.DSN())
		started := ask(t, n, "SELECT pg_postmaster_start_time()")
		do(t, n.KillBackend(t.Context(), int(victim.PgConn().PID())))
		if _, err := bystander.Exec(t.Context(), "SELECT 1"); err == nil {
			t.Errorf("%s: a connection survived", n.Name())
		}
		if got := ask(t, n, "SELECT pg_postmaster_start_time()"); got != started {
			t.Errorf("%s: got start time %s, want %s as before: the postmaster stays", n.Name(), got, started)
		}
	}
	other := connect(t, c.Primary().DSN())
	if err := c.Standby(0).KillBackend(t.Context(), int(other.PgConn().PID())); err == nil {
		t.Error("killed a backend of another node")
	}
	if _, err := other.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("backend of another node: %v", err)
	}
}

func TestStartWaitsForThePortThatAnotherProcessHasTaken(t *testing.T) {
	c := startIn(t, pgcluster.Options{})
	ctx, n := t.Context(), c.Primary()
	do(t, n.Stop(ctx))
	thief, err := new(net.ListenConfig).Listen(ctx, "tcp", n.Addr())
	do(t, err)
	if err := n.Start(within(t, time.Second)); err == nil || !strings.Contains(err.Error(), "port is taken") {
		t.Errorf("got %v, want to hear that the port is taken", err)
	}
	started := make(chan error)
	go func() { started <- n.Start(ctx) }()
	do(t, thief.Close())
	do(t, <-started)
	do(t, n.Exec(ctx, "SELECT 1"))
}
