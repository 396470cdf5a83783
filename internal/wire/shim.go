package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Shim adds messages to what pgx writes on one connection, and takes their
// answers out of what pgx reads.
//
// Concurrency: used by whoever uses the connection, one goroutine at a time.
// The exceptions are those of pgx: after a failed call it writes a Terminate
// from a goroutine of its own, and during a COPY it writes while it reads.
// Neither touches more than gate. While the gate is gateDraining, the goroutine
// of drain owns frame, in and body.
type Shim struct {
	r        io.Reader
	w        net.Conn
	frontend *pgproto3.Frontend
	pg       *pgconn.PgConn // nil until the connection is established

	// gate says what a Read and a Write have to do beyond passing bytes on.
	gate atomic.Uint32
	err  error // why the gate is gateDead

	frame   framer
	keep    bool   // the message under way passes
	collect bool   // its body is collected in body
	body    []byte // see collect
	in      []byte // read from r, to be looked at before r is read again
	out     []byte // to be handed up before anything else; lies in outMem
	outMem  []byte

	names names
	watch Watcher

	armed   bool
	flight  Flight
	trip    trip
	outcome Outcome
	tags    [4]string // first home of outcome.Tags
	buf     []byte    // what is written, when it is not the user's bytes
	timer   *time.Timer
	drainer drainer
}

const (
	// gateIdle: nothing is armed and nothing is kept back.
	gateIdle uint32 = iota
	// gateBusy: a flight is armed, or bytes wait in in or out.
	gateBusy
	// gateDraining: a goroutine reads the answers of a rejected read.
	gateDraining
	// gateDead: the connection is of no more use.
	gateDead
)

// dataKey is the shim's place in PgConn.CustomData.
const dataKey = "github.com/pgryw/pgryw/internal/wire"

// Install has the connection that is made from cfg carry a Shim, which Of then
// finds. It wraps cfg.BuildFrontend and cfg.AfterConnect. A cfg makes one
// connection at a time: install on a copy, such as the one that stdlib hands to
// its BeforeConnect hook. Fallbacks are tried one after the other, and the last
// frontend built is the connection's.
//
// Errors: connecting fails if the frontend turns out to be another
// connection's, or if cfg.BuildFrontend ignores its arguments.
func Install(cfg *pgconn.Config) {
	var last atomic.Pointer[Shim]
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		conn, ok := w.(net.Conn)
		if !ok {
			last.Store(nil)
			return build(r, w)
		}
		s := &Shim{r: r, w: conn}
		s.frontend = build((*reader)(s), (*writer)(s))
		last.Store(s)
		return s.frontend
	}
	after := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
		s := last.Load()
		if s == nil || s.frontend != pg.Frontend() {
			return errNotInstalled
		}
		s.pg = pg
		pg.CustomData()[dataKey] = s
		if after != nil {
			return after(ctx, pg)
		}
		return nil
	}
}

// Of returns the Shim of a connection whose Config went through Install, or
// nil: also for one that was hijacked and constructed anew.
func Of(pg *pgconn.PgConn) *Shim {
	s, _ := pg.CustomData()[dataKey].(*Shim)
	if s == nil || s.frontend != pg.Frontend() {
		return nil
	}
	return s
}

var (
	errNotInstalled = errors.New("pgryw: the flight shim was not installed on this connection")
	errUnfinished   = errors.New("pgryw: the connection was left in the middle of a flight")
)

// idle opens the gate, unless bytes are kept back.
func (s *Shim) idle() {
	if len(s.in) == 0 && len(s.out) == 0 {
		s.in = nil
		s.gate.Store(gateIdle)
	}
}

// die puts the connection out of use: writes are refused, and what was handed
// out already may still be read.
func (s *Shim) die(err error) {
	s.err = err
	s.gate.Store(gateDead)
}
