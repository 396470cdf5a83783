package conn

import (
	sqldriver "database/sql/driver"
	"errors"
	"slices"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// flight follows one call on one connection, from before its first byte to
// after its last answer. What it asks the server rides with the call's own
// messages.
type flight struct {
	c    *Conn
	call *call
	p    *topology.Conn

	// kept is set for a call in a read-only transaction on a replica: the
	// connection stays with the transaction.
	kept bool
	// borrowed is set for a read on a replica: the connection goes back when the
	// flight lands.
	borrowed bool
	// guarded is set if a replica is asked, ahead of the read, how far it is.
	guarded bool
	// asks is set if a read on the primary is asked whether it wrote.
	asks bool

	// before is the transaction status when the call began.
	before byte
	// number is the newest one when the call began: see lsn.LastNumber.
	number lsn.Number
	// out is what was learnt; set by land.
	out wire.Outcome
	// lost is set by land if the connection is of no more use.
	lost bool
}

// Transaction statuses.
//
// Source: https://www.postgresql.org/docs/18/protocol-message-formats.html,
// ReadyForQuery.
const (
	statusIdle   = 'I'
	statusInTx   = 'T'
	statusFailed = 'E'
)

// errGuard is how a guarded read that was rejected fails; it never reaches the
// user.
var errGuard = errors.New("pgryw: the replica has not replayed the fence")

// launch begins a flight on the primary's connection.
//
// Cost: none: what is asked is sent with the call's own messages.
func (c *Conn) launch(p *topology.Conn, call *call) *flight {
	f := &flight{c: c, call: call, p: p, before: p.TxStatus(), number: lsn.LastNumber()}
	p.Shim().Arm(f.cargo())
	return f
}

// cargo decides what the call's flight carries.
func (f *flight) cargo() wire.Flight {
	c, stmt := f.c, f.call.stmt
	switch {
	case f.before == statusIdle && c.asks(f.call):
		f.asks = true
		w := wire.Flight{AskXID: wire.AskBehind, Extended: true, Timeout: c.h.captureTimeout}
		if f.call.repair {
			w.Capture = topology.CaptureQuery
		}
		return w
	case f.before == statusIdle:
		// A text that may leave a transaction open is not asked inside it, where
		// the question would take the snapshot.
		by := authorOf(f.call.session)
		if stmt.Captures() && stmt.Starts&router.PinTx == 0 && c.captures(&by) {
			return c.h.captureFlight()
		}
	case stmt.Control == router.ControlCommit, stmt.Control == router.ControlRollback:
		if c.tx != nil && !stmt.Chain {
			return c.endFlight(c.tx, f.before, stmt.Control == router.ControlCommit)
		}
		if c.tx != nil && f.before == statusInTx && stmt.Control == router.ControlCommit && !c.tx.wrote {
			return wire.Flight{AskXID: wire.AskAhead}
		}
	}
	return wire.Flight{}
}

// captureFlight returns the cargo of a write.
func (h *Handle) captureFlight() wire.Flight {
	return wire.Flight{Capture: topology.CaptureQuery, Timeout: h.captureTimeout}
}

// endFlight returns the cargo of a transaction's end: a capture, and, ahead of
// the COMMIT of a transaction in which nothing is known to have written, the
// question whether it did.
func (c *Conn) endFlight(t *transaction, status byte, commits bool) wire.Flight {
	switch {
	case !c.captures(&t.authors):
		return wire.Flight{}
	case t.wrote:
		return c.h.captureFlight()
	case commits && status == statusInTx:
		w := c.h.captureFlight()
		w.AskXID = wire.AskAhead
		return w
	case t.repair:
		return c.h.captureFlight()
	}
	return wire.Flight{}
}

// asks reports whether the call is a read that must be asked whether it wrote,
// or carry a capture. With one node only a session's reads are.
func (c *Conn) asks(call *call) bool {
	switch call.stmt.Class {
	case router.ClassRead, router.ClassLocal:
		return call.stmt.Single && (call.session != nil || !c.h.cluster.Snapshot().Single)
	}
	return false
}

// captures reports whether writes of these authors are captured: with one node
// only those of sessions are.
func (c *Conn) captures(by *authors) bool {
	return by.signed() || !c.h.cluster.Snapshot().Single
}

// launchOnReplica begins the flight of a read on a replica, guarded unless the
// replica is known fresh on this very connection.
//
// Cost: none: the guard is sent ahead of the read's own messages.
func (c *Conn) launchOnReplica(p *topology.Conn, call *call, need lsn.Position) *flight {
	f := &flight{c: c, call: call, p: p, borrowed: true}
	if need.IsZero() || p.Fresh(need) {
		p.Shim().Arm(wire.Flight{})
		return f
	}
	f.guarded = true
	p.Shim().Arm(guardFlight(p, need))
	return f
}

// launchInReplicaTx begins the flight of a call in the read-only transaction
// that is open on a replica.
//
// Cost: none.
func (c *Conn) launchInReplicaTx(call *call) *flight {
	p := c.tx.replica
	p.Shim().Arm(wire.Flight{})
	return &flight{c: c, call: call, p: p, kept: true}
}

// guardFlight returns the cargo of a read that may be believed only if the
// replica has replayed need. What it says of itself is of use to everyone.
func guardFlight(p *topology.Conn, need lsn.Position) wire.Flight {
	asked := time.Now()
	return wire.Flight{
		Guard: topology.GuardQuery,
		Pass: func(row [][]byte) bool {
			pair, err := p.Paired(row, asked)
			return err == nil && pair.Position.Reaches(need)
		},
	}
}

// rejected reports whether the rows that pgx has returned are not the
// replica's.
func (f *flight) rejected() bool {
	return f.guarded && f.p.Shim().Verdict() != wire.GuardPassed
}

// land ends a flight whose call ended with err, and returns what the caller is
// told. A committed write stays a success.
func (f *flight) land(err error) error {
	f.out = f.p.Shim().Finish()
	f.c.fellBack(f.call)
	f.lost = f.out.Broken || f.p.Closed()
	switch {
	case f.kept:
		f.forget(err)
		return err
	case f.borrowed:
		f.forget(err)
		f.p.Release()
		if err == nil && f.guarded && f.out.Guard != wire.GuardPassed {
			return errGuard
		}
		return err
	case err != nil && !f.out.Sent && unsent(err):
		return sqldriver.ErrBadConn
	case errors.Is(err, sqldriver.ErrBadConn):
		err = errLost // pgx says that nothing was sent, and is wrong
	}
	if f.asks {
		f.settleRead(err)
	} else {
		f.settle(err)
	}
	if f.out.Broken {
		f.c.discard()
	} else {
		f.forget(err)
	}
	return err
}

// forget has pgx forget the statements that its server has dropped, or no longer
// runs.
func (f *flight) forget(err error) {
	switch {
	case f.lost || f.call == nil:
	case dropsAll(f.out.Tags):
		forgetAll(f.p, f.call)
	case err != nil && f.call.prepared:
		forgetText(f.p, f.call, err)
	}
}

// dropsAll reports whether one of the commands has dropped all prepared
// statements: at once, also where a later command fails.
//
// Source: https://www.postgresql.org/docs/18/sql-deallocate.html
func dropsAll(tags []string) bool {
	return slices.Contains(tags, "DISCARD ALL") || slices.Contains(tags, "DEALLOCATE ALL")
}

// settleRead concludes from a read outside a transaction.
func (f *flight) settleRead(err error) {
	by := authorOf(f.call.session)
	switch {
	case err != nil && !f.lost:
		// The error has undone what the statement may have written.
	case f.lost || f.out.XID != wire.XIDNone:
		if f.out.XID == wire.XIDAssigned {
			f.c.h.writers.add(f.call.text)
			f.c.h.counters.hidden.Add(1)
		}
		f.c.doubt(f.p.System(), &by)
	case f.call.repair:
		f.c.mend(f)
	}
}

// settle draws the conclusions from any other call on the primary by what the
// server says of the transaction before and after it, not by what the text
// says.
func (f *flight) settle(err error) {
	c, p, stmt := f.c, f.p, f.call.stmt
	after := p.TxStatus()
	c.notePins(stmt, err)
	switch t := c.tx; {
	case f.lost:
		f.settleLost()
	case f.before == statusIdle && after == statusIdle:
		by := authorOf(f.call.session)
		if stmt.Captures() && c.captures(&by) {
			c.capture(f.call.ctx, f, &by)
		}
	case f.before == statusIdle:
		c.tx = &transaction{}
		c.tx.note(f.call)
		if stmt.Control != router.ControlBegin {
			// Something before the BEGIN may have been committed already.
			c.doubt(p.System(), &c.tx.authors)
		}
	case after != statusIdle:
		if t == nil {
			t = &transaction{wrote: true}
			c.tx = t
		}
		t.note(f.call)
		t.learn(f.out.XID)
		if t.wrote && (stmt.Chain || !stmt.Single) {
			c.doubt(p.System(), &t.authors)
		}
	default:
		if t == nil {
			t = &transaction{wrote: true}
		}
		t.note(f.call)
		t.learn(f.out.XID)
		c.tx = nil
		if t.wrote && c.captures(&t.authors) {
			c.capture(f.call.ctx, f, &t.authors)
		}
	}
}

// settleLost concludes from a call after which the connection is of no use: it
// was lost in the call, or the capture was.
func (f *flight) settleLost() {
	c := f.c
	by, wrote := authorOf(f.call.session), f.call.stmt.Captures()
	if t := c.tx; t != nil {
		t.note(f.call)
		t.learn(f.out.XID)
		by, wrote = t.authors, t.wrote
		c.tx = nil
		c.broken = true
	}
	if wrote && c.captures(&by) {
		c.doubt(f.p.System(), &by)
	}
}

// giveUp concludes from a call whose end nobody will see.
func (f *flight) giveUp() {
	f.c.fellBack(f.call)
	if f.kept || f.borrowed {
		return
	}
	if by := authorOf(f.call.session); f.asks || f.call.stmt.Captures() {
		f.c.doubt(f.p.System(), &by)
	}
}

// notePins records the session state that a call has started or ended. An
// error undoes a single statement, except one that may commit inside.
func (c *Conn) notePins(stmt router.Statement, err error) {
	starts := stmt.Starts &^ router.PinTx
	if err != nil && stmt.Single && starts&(router.PinCall|router.PinVolatile) == 0 {
		return
	}
	c.setPins(c.pins&^stmt.Ends | starts)
}
