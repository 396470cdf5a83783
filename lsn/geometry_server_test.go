package lsn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
)

// idlePrimary is a server on which nobody else writes.
type idlePrimary struct {
	testing.TB
	conn *pgx.Conn
}

func newIdlePrimary(t *testing.T) idlePrimary {
	t.Helper()
	return idlePrimary{t, connect(t, pgcluster.New(t, pgcluster.Options{}))}
}

func (p idlePrimary) scan(sql string, dest ...any) {
	p.Helper()
	if err := p.conn.QueryRow(p.Context(), sql).Scan(dest...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

func (p idlePrimary) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.conn.Exec(p.Context(), sql, args...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

func (p idlePrimary) geometry() lsn.Geometry {
	p.Helper()
	var g lsn.Geometry
	p.scan("SELECT wal_block_size, bytes_per_wal_segment FROM pg_control_init()", &g.PageBytes, &g.SegmentBytes)
	return g
}

// positions reads the insert position, and the flush position after it.
func (p idlePrimary) positions() (insert, flush lsn.LSN) {
	p.Helper()
	p.scan("SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn()", &insert, &flush)
	return insert, flush
}

// commit writes n bytes or a few more to the WAL, and flushes them.
func (p idlePrimary) commit(n int) {
	p.Helper()
	p.exec("SELECT pg_logical_emit_message(true, '', $1)", strings.Repeat("x", n))
}

// isReachable fails the test unless the insert position, rounded, is flushed
// soon: a standby gets what is flushed, and nobody writes any more. It must not
// be less than what was flushed already.
func (p idlePrimary) isReachable(insert, flush lsn.LSN) {
	p.Helper()
	rounded := p.geometry().RoundDown(insert)
	if rounded < flush {
		p.Errorf("insert position %v is rounded to %v, but %v was flushed", insert, rounded, flush)
	}
	for end := time.Now().Add(5 * time.Second); flush < rounded; _, flush = p.positions() {
		if time.Now().After(end) {
			p.Fatalf("insert position %v is rounded to %v, flushed is %v for ever", insert, rounded, flush)
		}
	}
}

func TestTheInsertPositionAfterASegmentSwitchIsRoundedToWhatIsFlushed(t *testing.T) {
	p := newIdlePrimary(t)
	for range 5 {
		p.commit(100)
		p.isReachable(p.positions())
		p.exec("SELECT pg_switch_wal()")
		insert, flush := p.positions()
		if insert != flush+40 {
			t.Fatalf("after a switch the insert position is %v, flushed is %v: no header between them", insert, flush)
		}
		p.isReachable(insert, flush)
	}
}

func TestTheInsertPositionAfterAFullPageIsRoundedToWhatIsFlushed(t *testing.T) {
	p := newIdlePrimary(t)
	p.exec("SELECT pg_switch_wal()") // space enough in the segment
	page := lsn.LSN(p.geometry().PageBytes)

	const message = 512 // long enough that what surrounds it no longer depends on its length
	p.commit(message)
	before, _ := p.positions()
	p.commit(message)
	after, _ := p.positions()
	overhead := after - before - message

	for range 10 { // the server's own records may come between
		insert, flush := p.positions()
		p.isReachable(insert, flush)
		if left := page - insert%page; left > overhead+message {
			p.commit(int(left - overhead))
		} else {
			p.commit(2 * message) // on to the next page
			continue
		}
		if insert, flush = p.positions(); insert == flush+24 {
			p.isReachable(insert, flush)
			return
		}
	}
	t.Error("no record ended at the end of a page in 10 tries")
}
