package topology_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
)

// write writes something on the primary and returns the position behind it.
func write(t *testing.T, c *topology.Cluster) lsn.Position {
	t.Helper()
	p := primary(t, c)
	defer p.Release()
	exec(t, p, "INSERT INTO counter VALUES (gen_random_uuid(), 1)")
	position, err := p.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return position
}

// guard asks a replica for its pair, on a connection that it has borrowed.
func guard(t *testing.T, p *topology.Conn) lsn.Position {
	t.Helper()
	pair, err := p.Paired(guardRow(t, p), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return pair.Position
}

func guardRow(t *testing.T, p *topology.Conn) [][]byte {
	t.Helper()
	results, err := p.Pgx().PgConn().Exec(t.Context(), topology.GuardQuery.SQL).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return results[0].Rows[0]
}

func TestACaptureIsReachedByTheReplicasThatHaveReplayedIt(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, onDemand, dsns(pg)...))
	want := write(t, c)
	if s := c.Snapshot(); want.System != s.System || want.Timeline != s.Timeline || want.LSN == 0 {
		t.Fatalf("got %v, the snapshot has system %d, timeline %d", want, s.System, s.Timeline)
	}
	must(t, pg.Standby(0).WaitReplay(t.Context(), want.LSN))
	p := replica(t, c, 1)
	defer p.Release()
	if got := guard(t, p); !got.Reaches(want) {
		t.Errorf("%v does not reach %v", got, want)
	}
	if got := c.Snapshot().Nodes[1].Pair.Position; !got.Reaches(want) {
		t.Errorf("the snapshot has %v", got)
	}
}

func TestACaptureIsAnErrorOnAStandbyAndAPairOnAPrimary(t *testing.T) {
	c := start(t, config(t, onDemand, dsns(startCalm(t))...))
	r := replica(t, c, 1)
	defer r.Release()
	if position, err := r.Capture(t.Context()); err == nil {
		t.Errorf("got %v", position)
	}
	p := primary(t, c)
	defer p.Release()
	if pair, err := p.Paired(guardRow(t, p), time.Now()); err == nil {
		t.Errorf("got %+v", pair)
	}
}

func TestAReplicaIsKnownFreshOnceAPairWasAskedForAfterTheConnectionWasMade(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, onDemand, dsns(pg)...))
	want := write(t, c)
	must(t, pg.Standby(0).WaitReplay(t.Context(), want.LSN))
	if got := rediscover(t, c).Nodes[1].Pair.Position; !got.Reaches(want) {
		t.Fatalf("%v does not reach %v", got, want)
	}
	p := replica(t, c, 1)
	defer p.Release()
	if p.Fresh(want) {
		t.Error("fresh by a pair from before the connection")
	}
	rediscover(t, c)
	if !p.Fresh(want) {
		t.Error("not fresh by a pair from after the connection")
	}
	for what, beyond := range map[string]lsn.Position{
		"a later position":   {System: want.System, Timeline: want.Timeline, LSN: want.LSN + 1<<30},
		"another timeline":   {System: want.System, Timeline: want.Timeline + 1, LSN: want.LSN},
		"an earlier one":     {System: want.System, Timeline: want.Timeline - 1, LSN: want.LSN},
		"another system":     {System: want.System + 1, Timeline: want.Timeline, LSN: want.LSN},
		"an unknown one":     {},
		"an unknown system":  {Timeline: want.Timeline, LSN: want.LSN},
		"no known timeline":  {System: want.System, LSN: want.LSN},
		"the other replica?": {System: want.System, Timeline: want.Timeline, LSN: 1 << 62},
	} {
		if p.Fresh(beyond) {
			t.Errorf("fresh for %s", what)
		}
	}
}

func TestAFailedGuardTeachesEveryone(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE counter (id text, n bigint)"})
	c := start(t, config(t, onDemand, dsns(pg)...))
	must(t, pg.Standby(0).PauseReplay(t.Context()))
	want := write(t, c)
	p := replica(t, c, 1)
	defer p.Release()
	before := c.Snapshot().Nodes[1].Pair
	got := guard(t, p)
	if got.Reaches(want) {
		t.Fatalf("%v reaches %v while replay is paused", got, want)
	}
	if after := c.Snapshot().Nodes[1].Pair; !after.Asked.After(before.Asked) || after.Position != got {
		t.Errorf("the snapshot has %+v, the guard said %v", after, got)
	}
}

// TestACrashRestartVoidsWhatWasKnownFresh kills a backend: the standby restarts
// inside, with the same start time, and replays from further back.
func TestACrashRestartVoidsWhatWasKnownFresh(t *testing.T) {
	pg := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: "CREATE TABLE counter (id text, n bigint)"})
	standby := pg.Standby(0)
	c := start(t, config(t, onDemand, dsns(pg)...))
	old := replica(t, c, 1)
	want := write(t, c)
	must(t, standby.WaitReplay(t.Context(), want.LSN))
	rediscover(t, c)
	if !old.Fresh(want) {
		t.Fatal("not fresh before")
	}
	must(t, standby.KillBackend(t.Context(), int(pid(old))))
	if _, err := old.Pgx().Exec(t.Context(), "SELECT 1"); err == nil || !old.Closed() {
		t.Errorf("the old connection lives: %v", err)
	}
	old.Release()
	p := replica(t, c, 1)
	defer p.Release()
	if p.Fresh(want) {
		t.Error("fresh by a pair from before the crash")
	}
	must(t, standby.WaitReplay(t.Context(), want.LSN))
	rediscover(t, c)
	if !p.Fresh(want) {
		t.Error("not fresh when it has replayed again")
	}
}

// TestARoleThatSeesNoReceiverIsToldOnce connects as a role without pg_monitor:
// the control file then says which timeline a standby follows.
func TestARoleThatSeesNoReceiverIsToldOnce(t *testing.T) {
	pg := startCalm(t)
	var plain []string
	for _, dsn := range dsns(pg) {
		plain = append(plain, strings.Replace(dsn, "postgres@", "plain@", 1))
	}
	cfg := config(t, onDemand, plain...)
	log := newLog()
	cfg.Logger = log.logger()
	c := start(t, cfg)
	rediscover(t, c)
	for i, s := range c.Stats()[1:] {
		if !s.Blind || s.Position.Timeline != 1 {
			t.Errorf("standby %d: got %+v", i, s)
		}
	}
	must(t, c.Close()) // which waits until everything has been said
	if got := log.count("pg_monitor"); got != 2 {
		t.Errorf("said %d times of 2 standbys:\n%s", got, log)
	}
}

// TestAPoolerIsToldFromAServer puts a proxy before the standby that has the
// server's process ID changed, as in a pooler's own key data.
func TestAPoolerIsToldFromAServer(t *testing.T) {
	pg := startCalm(t)
	cfg := config(t, onDemand, dsns(pg)...)
	cfg.Nodes[1].Conn.DialFunc = disguise(cfg.Nodes[1].Conn.DialFunc)
	log := newLog()
	cfg.Logger = log.logger()
	c := start(t, cfg)
	want := write(t, c)
	must(t, pg.Standby(0).WaitReplay(t.Context(), want.LSN))
	p := replica(t, c, 1)
	defer p.Release()
	rediscover(t, c)
	if p.Direct() || p.Fresh(want) {
		t.Errorf("direct %v, fresh %v", p.Direct(), p.Fresh(want))
	}
	must(t, c.Close()) // which waits until everything has been said
	if got := log.count("pooler"); got != 1 {
		t.Errorf("said %d times:\n%s", got, log)
	}
}

func TestTheHistoryOfThePrimaryComesFromCapturesToo(t *testing.T) {
	c := start(t, config(t, onDemand, dsns(startCalm(t))...))
	var last lsn.Position
	for range 50 {
		last = write(t, c)
	}
	eventually(t, "a capture is in it", func() error {
		h := c.Snapshot().History
		if len(h) == 0 || h[len(h)-1].LSN < last.LSN {
			last = write(t, c)
			return fmt.Errorf("%d samples, not up to %v", len(h), last)
		}
		return nil
	})
	h := c.Snapshot().History
	for i := range h[1:] {
		if h[i].LSN >= h[i+1].LSN || !h[i].At.Before(h[i+1].At) {
			t.Errorf("samples %d and %d are out of order: %+v", i, i+1, h)
		}
	}
	c.Observe(lsn.Position{System: last.System + 1, Timeline: last.Timeline, LSN: 1 << 60})
	if h := c.Snapshot().History; h[len(h)-1].LSN == 1<<60 {
		t.Error("a position of another system is in it")
	}
}
