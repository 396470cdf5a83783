package pgcluster_test

import (
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// timeline returns that of a primary.
func timeline(t *testing.T, n *pgcluster.Node) string {
	t.Helper()
	return ask(t, n, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)")
}

func TestPromotedNodeIsThePrimaryThatTheOthersFollow(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 2, Setup: "CREATE TABLE t (i int)"})
	ctx := t.Context()
	old, next, third := c.Primary(), c.Standby(0), c.Standby(1)
	do(t, old.Kill(ctx))
	do(t, next.Promote(ctx))
	if c.Primary() != next || c.Standby(0) != old || c.Standby(1) != third {
		t.Errorf("got primary %s and standbys %s, %s", c.Primary().Name(), c.Standby(0).Name(), c.Standby(1).Name())
	}
	if got, want := timeline(t, next), "00000002"; got != want {
		t.Errorf("got timeline %s, want %s", got, want)
	}
	do(t, third.Repoint(ctx, next))
	do(t, next.Exec(ctx, "INSERT INTO t VALUES (1)"))
	do(t, c.CatchUp(ctx))
	if got := ask(t, third, "SELECT count(*) FROM t"); got != "1" {
		t.Errorf("got %s rows on the repointed standby, want 1", got)
	}
	do(t, old.Rejoin(ctx, third)) // a standby of a standby
	do(t, next.Exec(ctx, "INSERT INTO t VALUES (2)"))
	do(t, c.CatchUp(ctx))
	if got := ask(t, old, "SELECT count(*) FROM t WHERE pg_is_in_recovery()"); got != "2" {
		t.Errorf("got %s rows on the old primary, want 2", got)
	}
}

func TestTwoPrimariesDivergeAndTheOldOneRejoins(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
	ctx, old, next := t.Context(), c.Primary(), c.Standby(0)
	do(t, next.Promote(ctx))
	do(t, old.Exec(ctx, "INSERT INTO t VALUES (1), (2), (3)"))
	do(t, next.Exec(ctx, "INSERT INTO t VALUES (4)"))
	do(t, c.CatchUp(ctx)) // the old primary follows nobody
	if got := ask(t, old, "SELECT count(*) FROM t"); got != "3" {
		t.Errorf("got %s rows on the old primary, want its own 3", got)
	}
	do(t, old.Rejoin(ctx, next))
	if got := ask(t, old, "SELECT i FROM t"); got != "4" {
		t.Errorf("got %q on the old primary, want the new one's 4", got)
	}
}

func TestRepointTurnsAPrimaryIntoAStandby(t *testing.T) {
	for _, test := range []struct {
		name string
		stop bool
	}{{"stopped before the promotion and started after", true}, {"running until it is repointed", false}} {
		t.Run(test.name, func(t *testing.T) {
			c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
			ctx, old, next := t.Context(), c.Primary(), c.Standby(0)
			if test.stop {
				do(t, old.Stop(ctx))
				do(t, next.Promote(ctx))
				do(t, old.Repoint(ctx, next))
				do(t, old.Start(ctx))
			} else {
				do(t, old.Repoint(ctx, next))
				do(t, next.Promote(ctx))
			}
			do(t, next.Exec(ctx, "INSERT INTO t VALUES (1)"))
			do(t, c.CatchUp(ctx))
			if got := ask(t, old, "SELECT count(*) FROM t WHERE pg_is_in_recovery()"); got != "1" {
				t.Errorf("got %s rows on the old primary, want 1", got)
			}
		})
	}
}

func TestDetachedStandbyReceivesNothingUntilRepointed(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE t (i int)"})
	ctx, primary, standby := t.Context(), c.Primary(), c.Standby(0)
	do(t, standby.Detach(ctx))
	eventually(t, func() bool { return ask(t, primary, "SELECT count(*) FROM pg_stat_replication") == "0" })
	do(t, primary.Exec(ctx, "INSERT INTO t VALUES (1)"))
	do(t, c.CatchUp(ctx)) // passes over it
	if got := ask(t, standby, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("got %s rows while detached, want 0", got)
	}
	if err := standby.BreakStream(ctx); err == nil {
		t.Error("broke a stream that there is not")
	}
	do(t, standby.Repoint(ctx, primary))
	do(t, c.CatchUp(ctx))
	if got := ask(t, standby, "SELECT count(*) FROM t"); got != "1" {
		t.Errorf("got %s rows after repointing, want 1", got)
	}
}

func TestBrokenStreamIsReplacedByANewOne(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1})
	const receiver = "SELECT pid FROM pg_stat_wal_receiver"
	before := ask(t, c.Standby(0), receiver)
	do(t, c.Standby(0).BreakStream(t.Context()))
	if after := ask(t, c.Standby(0), receiver); after == before || after == "" {
		t.Errorf("got WAL receiver %q, was %q", after, before)
	}
}
