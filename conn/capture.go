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
	switch {
	case err != nil:
		c.h.logger.Warn("pgryw: a write could not be located; its reads go to the primary until one can be",
			"server", f.p.Label(), "error", err)
		c.doubt(f.p.System(), by)
	case position.System != c.h.cluster.Snapshot().System:
		c.doubt(f.p.System(), by)
	default:
		c.h.counters.captures.Add(1)
		c.raise(position, before, by)
	}
}

// mend captures for a read that was sent to the primary by a fence in doubt, or
// of an older timeline. If it cannot, the next such read will.
func (c *Conn) mend(f *flight) {
	if position, before, err := c.position(f.call.ctx, f); err == nil {
		c.h.counters.captures.Add(1)
		c.repair(position, before, f.call.session)
	}
}

// position returns the primary's position behind a flight, and the newest
// number when the question for it was sent.
func (c *Conn) position(ctx context.Context, f *flight) (lsn.Position, lsn.Number, error) {
	switch {
	case f.out.CaptureRow != nil:
		position, err := f.p.Captured(f.out.CaptureRow)
		return position, f.number, err
	case f.out.CaptureErr != nil && !errors.Is(f.out.CaptureErr, wire.ErrNotCarried):
		return lsn.Position{}, 0, f.out.CaptureErr
	}
	return c.ask(ctx, f.p)
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
