package topology

import (
	"fmt"
	"strconv"
	"time"

	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// replicaTimeline is the timeline that a standby follows: that of its receiver
// where the role may see it, else what the control file proves, which is an
// older one until the first restart point after a switch.
//
// Source: src/backend/replication/walreceiver.c, pg_stat_get_wal_receiver;
// src/backend/utils/misc/pg_controldata.c.
const replicaTimeline = `coalesce((SELECT w.received_tli FROM pg_catalog.pg_stat_wal_receiver w),` +
	` (SELECT greatest(k.timeline_id, r.min_recovery_end_timeline)` +
	` FROM pg_catalog.pg_control_checkpoint() k, pg_catalog.pg_control_recovery() r))`

// primaryTimeline is the timeline that a primary writes on, in hexadecimal. It
// is right as soon as recovery has ended; the control file's lags.
//
// Source: src/backend/access/transam/xlogfuncs.c, pg_walfile_name.
const primaryTimeline = `pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8)`

// CaptureQuery asks a primary for its position. It is an error on a standby.
//
// The insert position, because the write and flush positions may lie below an
// asynchronous commit.
var CaptureQuery = &wire.Query{
	Name: "pgryw_capture",
	SQL: `SELECT s.system_identifier, pg_catalog.pg_current_wal_insert_lsn(), ` + primaryTimeline +
		` FROM pg_catalog.pg_control_system() s`,
}

// GuardQuery asks a standby for its pair. The position is read before the
// timeline: a standby that switches in between is then said to have come less
// far on the new timeline than it has, and never to have passed its end on the
// old one.
var GuardQuery = &wire.Query{
	Name: "pgryw_guard",
	SQL: `SELECT s.system_identifier, pg_catalog.pg_is_in_recovery(), pg_catalog.pg_last_wal_replay_lsn(), ` + replicaTimeline +
		` FROM pg_catalog.pg_control_system() s`,
}

// serverColumns tell one server from all others. The start time is in hexadecimal
// microseconds, whatever the session's DateStyle and TimeZone.
const serverColumns = `s.system_identifier,` +
	` pg_catalog.encode(pg_catalog.timestamptz_send(pg_catalog.pg_postmaster_start_time()), 'hex'),` +
	` pg_catalog.inet_server_addr(), pg_catalog.inet_server_port()`

// identityQuery asks a server who it is, when a connection is made.
const identityQuery = `SELECT ` + serverColumns + `, pg_catalog.pg_backend_pid(),` +
	` pg_catalog.pg_is_in_recovery(), i.wal_block_size, i.bytes_per_wal_segment, i.max_data_alignment,` +
	` pg_catalog.current_setting('default_transaction_isolation')` +
	` FROM pg_catalog.pg_control_system() s, pg_catalog.pg_control_init() i`

// probeQuery asks a server for everything that changes. The CASE keeps functions
// that are errors on a primary, or on a standby, from being called there.
const probeQuery = `SELECT ` + serverColumns + `, r.recovering,` +
	` CASE WHEN r.recovering THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_insert_lsn() END,` +
	` CASE WHEN r.recovering THEN pg_catalog.pg_last_wal_receive_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END,` +
	` CASE WHEN r.recovering THEN ` + replicaTimeline + `::pg_catalog.text ELSE ` + primaryTimeline + ` END,` +
	` CASE WHEN r.recovering THEN (SELECT w.received_tli IS NULL FROM pg_catalog.pg_stat_wal_receiver w) END` +
	` FROM pg_catalog.pg_control_system() s, (SELECT pg_catalog.pg_is_in_recovery() AS recovering) r`

// server tells one run of one server from all others. It is comparable.
type server struct {
	system  uint64
	started string // in microseconds, hexadecimal
	addr    string // empty on a Unix socket
	port    string
}

// sameRun reports whether two identities, perhaps seen through two addresses,
// are one server.
func (s server) sameRun(t server) bool { return s.system == t.system && s.started == t.started }

// identity is what a server says of itself and of the connection, once.
type identity struct {
	server       server
	pid          uint32
	recovering   bool
	geometry     lsn.Geometry
	serializable bool
}

// report is what a probe brought back.
type report struct {
	server     server
	recovering bool
	// position is where the server is: the insert position of a primary, the
	// replay position of a replica. Its LSN is zero if the server did not say.
	position lsn.Position
	// durable is the flush position of a primary, the received one of a replica.
	durable lsn.LSN
	// blind is set if the role may not see which timeline the receiver follows.
	blind    bool
	asked    time.Time
	answered time.Time
}

// pair is what a replica's report says of how far it is.
func (r *report) pair() router.Pair { return router.Pair{Position: r.position, Asked: r.asked} }

// cells reads the columns of one row of text, and keeps the first error. NULL is
// a nil cell, and an error unless a method says otherwise.
type cells struct {
	row [][]byte
	err error
}

func (c *cells) next() []byte {
	if len(c.row) == 0 {
		c.fail("a column is missing")
		return nil
	}
	cell := c.row[0]
	c.row = c.row[1:]
	return cell
}

func (c *cells) fail(why string) {
	if c.err == nil {
		c.err = fmt.Errorf("pgryw: the server's answer cannot be used: %s", why)
	}
}

func (c *cells) text() string {
	cell := c.next()
	if cell == nil {
		c.fail("NULL")
	}
	return string(cell)
}

// textOrNull takes NULL for the empty text.
func (c *cells) textOrNull() string { return string(c.next()) }

func (c *cells) uint(base, bits int) uint64 {
	v, err := strconv.ParseUint(string(c.next()), base, bits)
	if err != nil {
		c.fail("not a number")
	}
	return v
}

func (c *cells) bool() bool {
	switch string(c.next()) {
	case "t":
		return true
	case "f":
		return false
	}
	c.fail("neither true nor false")
	return false
}

func (c *cells) lsn() lsn.LSN {
	l, err := lsn.Parse(string(c.next()))
	if err != nil {
		c.fail("not an LSN")
	}
	return l
}

// lsnOrZero takes NULL for zero, which no server is ever at.
func (c *cells) lsnOrZero() lsn.LSN {
	if len(c.row) > 0 && c.row[0] == nil {
		c.next()
		return 0
	}
	return c.lsn()
}

func (c *cells) server() server {
	return server{system: c.uint(10, 64), started: c.text(), addr: c.textOrNull(), port: c.textOrNull()}
}

// usualAlignment is the max_data_alignment for which lsn.Geometry knows the sizes
// of page headers.
const usualAlignment = 8

func readIdentity(row [][]byte) (identity, error) {
	c := cells{row: row}
	id := identity{
		server:     c.server(),
		pid:        uint32(c.uint(10, 32)),
		recovering: c.bool(),
		geometry:   lsn.Geometry{PageBytes: c.uint(10, 64), SegmentBytes: c.uint(10, 64)},
	}
	if c.uint(10, 32) != usualAlignment {
		id.geometry = lsn.Geometry{} // page headers are of another size there
	}
	id.serializable = c.text() == "serializable"
	return id, c.err
}

func readReport(row [][]byte) (report, error) {
	c := cells{row: row}
	r := report{server: c.server(), recovering: c.bool()}
	r.position = lsn.Position{System: r.server.system, LSN: c.lsnOrZero()}
	r.durable = c.lsnOrZero()
	base := 10
	if !r.recovering {
		base = 16
	}
	r.position.Timeline = uint32(c.uint(base, 32))
	r.blind = c.textOrNull() == "t"
	return r, c.err
}

// readPair reads a GuardQuery's row.
//
// Errors: the server is not in recovery, or does not say how far it is.
func readPair(row [][]byte) (lsn.Position, error) {
	c := cells{row: row}
	p := lsn.Position{System: c.uint(10, 64)}
	if !c.bool() {
		c.fail("not in recovery")
	}
	p.LSN = c.lsn()
	p.Timeline = uint32(c.uint(10, 32))
	return p, c.err
}

// readCapture reads a CaptureQuery's row.
func readCapture(row [][]byte, g lsn.Geometry) (lsn.Position, error) {
	c := cells{row: row}
	p := lsn.Position{System: c.uint(10, 64), LSN: g.RoundDown(c.lsn()), Timeline: uint32(c.uint(16, 32))}
	return p, c.err
}
