package conn

import (
	"context"
	"errors"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
)

// capture raises the fences of what the authors have written in a flight to the
// position that it brought back. If it brought none, they become uncertain.
//
// Cost: none; one round trip to the primary if the flight could not carry the
// question: a text that may have left a transaction open, or held a COPY.
func (c *Conn) capture(ctx context.Context, f *flight, by *authors) {
	position, before, err := c.position(ctx, f)
	if err != nil {
		c.doubt(f.p.System(), by)
		c.h.logger.Warn("pgryw: a write could not be located; its reads go to the primary until one can be",
			"server", f.p.Label(), "error", err)
		return
	}
	c.raise(position, before, by)
}

// mend captures for a read that was sent to the primary by a fence in doubt, or
// of an older timeline. If it cannot, the next such read will.
func (c *Conn) mend(f *flight) {
	if position, before, err := c.position(f.call.ctx, f); err == nil {
		c.repair(position, before, f.call.session)
	}
}

// position returns the primary's position behind a flight, and the newest
// number when the question for it was sent.
//
// Errors: why there is none; it is that of another cluster.
func (c *Conn) position(ctx context.Context, f *flight) (position lsn.Position, before lsn.Number, err error) {
	switch why := f.out.CaptureErr; {
	case f.out.CaptureRow != nil:
		before = f.number
		position, err = f.p.Captured(f.out.CaptureRow)
	case why != nil && !errors.Is(why, wire.ErrNotCarried):
		err = why
	default:
		position, before, err = c.ask(ctx, f.p)
	}
	if err == nil && position.System != c.h.cluster.Snapshot().System {
		err = errForeign
	}
	if err == nil {
		c.h.counters.captures.Add(1)
	}
	return position, before, err
}

// ask asks the primary for its position in a flight of its own.
//
// Blocks until it is known, and stops after capture_timeout; the connection is
// closed then.
// Cost: one round trip.
func (c *Conn) ask(ctx context.Context, p *topology.Conn) (lsn.Position, lsn.Number, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.h.captureTimeout)
	defer cancel()
	before := lsn.LastNumber()
	position, err := p.Capture(ctx)
	return position, before, err
}
