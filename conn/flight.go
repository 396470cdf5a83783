package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// flight follows one call on one connection, from before its first byte to
// after its last answer.
type flight struct {
	c    *Conn
	call *call
	p    *topology.Conn

	// standing is set if the connection stays with whoever has it, and nothing
	// is to be learnt: a read-only transaction on a replica, or a call that
	// will find the connection busy.
	standing bool
	// borrowed is set for a read on a replica: the connection goes back.
	borrowed bool
	// lost is set on the landing of such a read if its connection was lost.
	lost bool
	// asked is set if the call runs in a transaction of the driver's own, so
	// that it can be asked whether it wrote.
	asked bool
	// before is the transaction status when the call began.
	before byte
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

// launch begins a flight on the primary's connection.
//
// Errors: that of a BEGIN; driver.ErrBadConn if nothing was sent.
// Cost: one round trip for a read outside a transaction, and one for the end of
// a transaction in which nothing is known to have written.
func (c *Conn) launch(p *topology.Conn, call *call) (*flight, error) {
	f := &flight{c: c, call: call, p: p, before: p.TxStatus()}
	switch {
	case f.before == statusIdle && c.asks(call):
		if err := control(call.ctx, p, "begin"); err != nil {
			return nil, err
		}
		f.asked = true
	case f.before == statusInTx && c.tx != nil && call.stmt.Control == router.ControlCommit:
		c.askTx(call.ctx, p, c.tx)
	}
	return f, nil
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

// askTx asks a transaction of reads, ahead of its COMMIT, whether one of them
// wrote. If that cannot be found out it is taken for having written.
//
// Cost: one round trip, if nothing is known to have written.
func (c *Conn) askTx(ctx context.Context, p *topology.Conn, t *transaction) {
	if t.wrote || !c.captures(&t.authors) {
		return
	}
	if assigned, err := p.XIDAssigned(ctx); err == nil && !assigned {
		return
	}
	t.wrote = true
	t.unsigned = t.unsigned || t.anyUnsigned
}

// captures reports whether writes of these authors are captured: with one node
// only those of sessions are.
func (c *Conn) captures(by *authors) bool {
	return by.signed() || !c.h.cluster.Snapshot().Single
}

// land ends a flight whose call ended with err, and returns what the caller is
// told. A committed write stays a success.
//
// Cost: one round trip for a capture; for a read that was asked, one for the
// question and one for its COMMIT.
func (f *flight) land(err error) error {
	switch {
	case f.standing:
		return err
	case f.borrowed:
		f.lost = f.p.Closed()
		f.p.Release()
		return err
	case f.asked:
		return f.landAsked(err)
	case errors.Is(err, sqldriver.ErrBadConn):
		return err // nothing was sent
	}
	f.settle(err)
	return err
}

// landAsked ends the transaction around a read on the primary.
func (f *flight) landAsked(err error) error {
	c, p := f.c, f.p
	if p.Closed() {
		return err // and the transaction with it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.call.ctx), c.h.captureTimeout)
	defer cancel()
	if err != nil {
		if rollbackErr := control(ctx, p, "rollback"); rollbackErr != nil {
			p.Destroy()
		}
		return err
	}
	assigned, askErr := p.XIDAssigned(ctx)
	wrote := assigned || askErr != nil
	by := authorOf(f.call.session)
	if err := control(ctx, p, "commit"); err != nil {
		if wrote {
			c.doubt(p.System(), &by)
		}
		return err
	}
	switch {
	case wrote:
		c.h.writers.add(f.call.text)
		c.h.counters.hidden.Add(1)
		c.capture(f.call.ctx, p, &by)
	case f.call.repair:
		c.mend(f.call.ctx, p, f.call.session)
	}
	return nil
}

// settle draws the conclusions from a call on the primary by what the server
// says of the transaction before and after it, not by what the text says.
func (f *flight) settle(err error) {
	c, p, stmt := f.c, f.p, f.call.stmt
	after := p.TxStatus()
	c.notePins(f.call.stmt, err)
	switch t := c.tx; {
	case p.Closed():
		f.settleLost()
	case f.before == statusIdle && after == statusIdle:
		by := authorOf(f.call.session)
		if stmt.Captures() && c.captures(&by) {
			c.capture(f.call.ctx, p, &by)
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
		if t.wrote && (stmt.Chain || !stmt.Single) {
			c.doubt(p.System(), &t.authors)
		}
	default:
		if t == nil {
			t = &transaction{wrote: true}
		}
		t.note(f.call)
		c.tx = nil
		if t.wrote && c.captures(&t.authors) {
			c.capture(f.call.ctx, p, &t.authors)
		}
	}
}

// settleLost concludes from a connection that was lost in the call.
func (f *flight) settleLost() {
	c := f.c
	by, wrote := authorOf(f.call.session), f.call.stmt.Captures()
	if t := c.tx; t != nil {
		t.note(f.call)
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
	if f.standing || f.asked || !f.call.stmt.Captures() {
		return
	}
	if by := authorOf(f.call.session); f.c.captures(&by) {
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

// capture learns the position of what the authors have written, and raises
// their fences to it. If it cannot, they become uncertain.
//
// Blocks until the position is known, and stops after capture_timeout.
// Cost: one round trip to the primary.
func (c *Conn) capture(ctx context.Context, p *topology.Conn, by *authors) {
	position, before, ok := c.position(ctx, p)
	if !ok || position.System != c.h.cluster.Snapshot().System {
		c.doubt(p.System(), by)
		return
	}
	c.raise(position, before, by)
}

// mend captures for a read that was sent to the primary by a fence in doubt,
// or of an older timeline.
func (c *Conn) mend(ctx context.Context, p *topology.Conn, session *lsn.Session) {
	if position, before, ok := c.position(ctx, p); ok {
		c.repair(position, before, session)
	}
}

// position asks for the primary's position. A connection on which it could not
// be asked is closed.
func (c *Conn) position(ctx context.Context, p *topology.Conn) (at lsn.Position, before lsn.Number, ok bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.h.captureTimeout)
	defer cancel()
	before = lsn.LastNumber()
	at, err := p.Capture(ctx)
	if err != nil {
		c.h.logger.Warn("pgryw: a write could not be located; its reads go to the primary", "server", p.Label(), "error", err)
		return lsn.Position{}, 0, false
	}
	c.h.counters.captures.Add(1)
	return at, before, true
}
