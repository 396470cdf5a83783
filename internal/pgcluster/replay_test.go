package pgcluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
)

// received waits until the standby has the primary's WAL, replayed or not.
func received(t *testing.T, primary, standby *pgcluster.Node) lsn.LSN {
	t.Helper()
	end, err := lsn.Parse(ask(t, primary, "SELECT pg_current_wal_flush_lsn()"))
	do(t, err)
	eventually(t, func() bool {
		have, err := lsn.Parse(ask(t, standby, "SELECT pg_last_wal_receive_lsn()"))
		do(t, err)
		return have >= end
	})
	return end
}

// eventually asks until the answer is yes, for 30 s at most.
func eventually(t *testing.T, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx := within(t, 30*time.Second)
	for !yes() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("not within 30 s")
		}
	}
}

func TestPausedStandbyReceivesAndDoesNotReplay(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
	ctx, primary, standby := t.Context(), c.Primary(), c.Standby(0)
	do(t, standby.PauseReplay(ctx))
	before, err := standby.ReplayLSN(ctx)
	do(t, err)
	do(t, primary.Exec(ctx, "INSERT INTO t VALUES (1)"))
	end := received(t, primary, standby)
	after, err := standby.ReplayLSN(ctx)
	do(t, err)
	if after != before || after >= end {
		t.Errorf("paused at %s, now at %s, received %s", before, after, end)
	}
	if got := ask(t, standby, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("got %s rows while paused, want 0", got)
	}
	do(t, standby.ResumeReplay(ctx))
	do(t, standby.WaitReplay(ctx, end))
	if got := ask(t, standby, "SELECT count(*) FROM t"); got != "1" {
		t.Errorf("got %s rows after the pause, want 1", got)
	}
}

func TestDelayedStandbyReplaysOnceTheDelayIsGone(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
	ctx, primary, standby := t.Context(), c.Primary(), c.Standby(0)
	do(t, standby.SetDelay(ctx, time.Hour))
	do(t, primary.Exec(ctx, "INSERT INTO t VALUES (1)"))
	end := received(t, primary, standby)
	if err := standby.WaitReplay(within(t, 100*time.Millisecond), end); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v while delayed, want %v", err, context.DeadlineExceeded)
	}
	do(t, standby.SetDelay(ctx, 0))
	do(t, standby.WaitReplay(ctx, end))
	if got := ask(t, standby, "SELECT count(*) FROM t"); got != "1" {
		t.Errorf("got %s rows after the delay, want 1", got)
	}
}

func TestDelayIsCountedFromTheCommit(t *testing.T) {
	const delay = 300 * time.Millisecond
	c := startIn(t, pgcluster.Options{Standbys: 1})
	ctx := t.Context()
	do(t, c.Standby(0).SetDelay(ctx, delay))
	start := time.Now()
	do(t, c.CatchUp(ctx))
	if got := time.Since(start); got < delay {
		t.Errorf("caught up after %s, want %s or more", got, delay)
	}
}

func TestCatchUpCoversCommitsThatWereNotFlushed(t *testing.T) {
	c := startIn(t, pgcluster.Options{
		Standbys: 1, Setup: "CREATE TABLE t (i int)",
		Settings: map[string]string{"synchronous_commit": "off", "wal_writer_delay": "10s"},
	})
	ctx := t.Context()
	reader := connect(t, c.Standby(0).DSN())
	writer := connect(t, c.Primary().DSN())
	for i := range 50 {
		if _, err := writer.Exec(ctx, "INSERT INTO t VALUES ($1)", i); err != nil {
			t.Fatal(err)
		}
		do(t, c.CatchUp(ctx))
		var rows int
		do(t, reader.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&rows))
		if want := i + 1; rows != want {
			t.Fatalf("got %d rows, want %d", rows, want)
		}
	}
}

func TestPositionsAreErrorsOnTheWrongKindOfServer(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1})
	if p, err := c.Primary().ReplayLSN(t.Context()); err == nil {
		t.Errorf("got replay position %s of a primary", p)
	}
	if p, err := c.Standby(0).InsertLSN(t.Context()); err == nil {
		t.Errorf("got insert position %s of a standby", p)
	}
	insert, err := c.Primary().InsertLSN(t.Context())
	do(t, err)
	do(t, c.CatchUp(t.Context()))
	replay, err := c.Standby(0).ReplayLSN(t.Context())
	do(t, err)
	if replay < insert {
		t.Errorf("caught up to %s, want %s or more", replay, insert)
	}
}

func TestSetRefusesABadValueAndKeepsTheOldOne(t *testing.T) {
	c := startIn(t, pgcluster.Options{})
	ctx, n := t.Context(), c.Primary()
	do(t, n.Set(ctx, "work_mem", "3MB"))
	if err := n.Set(ctx, "work_mem", "much"); err == nil {
		t.Error(`work_mem = "much" was accepted`)
	}
	if err := n.Set(ctx, "no_such_setting", "1"); err == nil {
		t.Error("no_such_setting was accepted")
	}
	if got := ask(t, n, "SHOW work_mem"); got != "3MB" {
		t.Errorf("got work_mem %s, want 3MB", got)
	}
	do(t, n.Set(ctx, "max_connections", "50"))
	do(t, n.Restart(ctx))
	if got := ask(t, n, "SELECT current_setting('work_mem') || ' ' || current_setting('max_connections')"); got != "3MB 50" {
		t.Errorf("got %s after the restart, want 3MB 50", got)
	}
}
