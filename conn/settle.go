package conn

import (
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/router"
)

// failed reports whether the call has certainly come to nothing: the server said
// so, or was not asked. Any other error may be one behind a success.
func (f *flight) failed(err error) bool {
	return err != nil && !f.lost && (!f.out.Sent || fromServer(err))
}

// conclude draws the conclusions from a call on the primary that ended with err.
func (f *flight) conclude(err error) {
	if f.asks {
		f.settleRead(err)
	} else {
		f.settle(err)
	}
}

// settleRead concludes from a read outside a transaction.
func (f *flight) settleRead(err error) {
	by := authorOf(f.call.session)
	switch {
	case f.failed(err):
		// Whatever the statement may have written is undone.
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
	f.notePins(err)
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
		// What follows must not run outside the transaction, unless that is over.
		c.broken = c.broken || !f.out.Ended || f.out.Status != statusIdle
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
