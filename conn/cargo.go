package conn

import (
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

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
