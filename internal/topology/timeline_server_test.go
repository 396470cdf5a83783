package topology_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
)

// TestARoleThatSeesNoReceiverWaitsForTheControlFile asks, as a role without
// pg_monitor, a replica that was repointed to a promoted one. The old primary
// comes back as it was, and then as a replica.
func TestARoleThatSeesNoReceiverWaitsForTheControlFile(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 2, Setup: "CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain; CREATE TABLE counter (id text, n bigint); GRANT ALL ON counter TO plain"})
	old, next, other := pg.Primary(), pg.Standby(0), pg.Standby(1)
	sees := start(t, config(t, onDemand, dsns(pg)...))
	plain := dsns(pg)
	for i := range plain {
		plain[i] = strings.Replace(plain[i], pgcluster.Superuser+"@", "plain@", 1)
	}
	blind := start(t, config(t, onDemand, plain...))
	must(t, old.Kill(ctx), next.Promote(ctx), other.Repoint(ctx, next))
	rediscover(t, sees)
	rediscover(t, blind)

	fence := write(t, blind)
	must(t, other.WaitReplay(ctx, fence.LSN))
	if got := rediscover(t, sees).Nodes[2].Pair.Position; !got.Reaches(fence) {
		t.Errorf("seen at %v, want %v", got, fence)
	}
	got := rediscover(t, blind).Nodes[2].Pair.Position
	if got.Reaches(fence) || got.Timeline != 1 || fence.Timeline != 2 || got.LSN < fence.LSN {
		t.Errorf("without the right to see: seen at %v, want the position of %v on timeline 1", got, fence)
	}
	wantStanding(t, blind.Snapshot(), "unknown unreachable", "primary none", "replica none")

	must(t, next.Exec(ctx, "CHECKPOINT"), pg.CatchUp(ctx), other.Exec(ctx, "CHECKPOINT")) // a restart point
	eventually(t, "the control file shows the new timeline", func() error {
		if got := rediscover(t, blind).Nodes[2].Pair.Position; !got.Reaches(fence) {
			return fmt.Errorf("seen at %v, want %v", got, fence)
		}
		return nil
	})

	must(t, old.Start(ctx))
	for _, c := range []*topology.Cluster{sees, blind} {
		wantStanding(t, rediscover(t, c), "unknown deposed", "primary none", "replica none")
		if p := primary(t, c); p.Node() != 1 {
			t.Errorf("writes go to node %d, want 1", p.Node())
		}
	}
	must(t, old.Rejoin(ctx, next))
	wantStanding(t, rediscover(t, sees), "replica none", "primary none", "replica none")
}

// TestACaptureStaysWhereAReplicaCanGet asks right behind a switch of segments,
// when the insert position of an idle primary lies beyond a page header.
func TestACaptureStaysWhereAReplicaCanGet(t *testing.T) {
	const segmentBytes, headerBytes = 1 << 20, 40 // pgcluster's initdb; xlog_internal.h, SizeOfXLogLongPHD
	pg := startCalm(t)
	c := start(t, config(t, onDemand, dsns(pg)...))
	p := primary(t, c)
	defer p.Release()
	eventually(t, "the insert position is beyond a header", func() error {
		must(t, pg.CatchUp(t.Context())) // writes a little, or there would be nothing to switch
		must(t, pg.Primary().Exec(t.Context(), "SELECT pg_switch_wal()"))
		insert, err := pg.Primary().InsertLSN(t.Context())
		must(t, err)
		captured, err := p.Capture(t.Context())
		must(t, err)
		if insert%segmentBytes != headerBytes {
			return errors.New("somebody else has written")
		}
		if want := insert - headerBytes; captured.LSN != want {
			t.Errorf("captured %v at insert position %v, want %v", captured.LSN, insert, want)
		}
		must(t, pg.Standby(0).WaitReplay(t.Context(), captured.LSN))
		return nil
	})
}

// TestAReplicaThatHasGoneBackIsSeenThere ends a process of a standby with
// SIGKILL: the server starts anew without a new start time, its replay goes back,
// and its delay keeps it there.
func TestAReplicaThatHasGoneBackIsSeenThere(t *testing.T) {
	ctx := t.Context()
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: counterTable})
	c := start(t, config(t, 20*time.Millisecond, dsns(pg)...))
	want := write(t, c)
	must(t, pg.Standby(0).WaitReplay(ctx, want.LSN))
	before := replica(t, c, 1)
	eventually(t, "the connection is known fresh", func() error { return freshness(c, before.Fresh(want), true) })
	must(t, pg.Standby(0).SetDelay(ctx, time.Hour), pg.Standby(0).KillBackend(ctx, int(pid(before))))
	eventually(t, "the replica is seen to have gone back", func() error {
		return freshness(c, c.Snapshot().Nodes[1].Trouble == 0 && !c.Snapshot().Nodes[1].Pair.Position.Reaches(want), true)
	})
	if _, err := before.Pgx().Exec(ctx, "SELECT 1"); err == nil {
		t.Error("the connection has outlived the crash")
	}
	before.Release()
	after := replica(t, c, 1)
	defer after.Release()
	rediscover(t, c)
	must(t, freshness(c, after.Fresh(want), false))
	must(t, pg.Standby(0).SetDelay(ctx, 0))
	eventually(t, "the new connection is known fresh", func() error { return freshness(c, after.Fresh(want), true) })
}

// freshness returns an error unless got is as wanted. It counts as use of the
// handle, so that the probes do not slow down meanwhile.
func freshness(c *topology.Cluster, got, want bool) error {
	c.Touch()
	if got != want {
		return fmt.Errorf("got %t, the replica was seen at %v", got, c.Snapshot().Nodes[1].Pair.Position)
	}
	return nil
}
