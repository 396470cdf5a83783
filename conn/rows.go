package conn

import (
	"context"

	"github.com/pgryw/pgryw/internal/topology"
)

// rows are pgx's rows, followed to their end. The embedded pointer passes on
// every optional interface that pgx's rows have in the Go version at hand.
type rows struct {
	*pgxRows
	c      *Conn
	on     *topology.Conn
	flight *flight
	ended  bool
}

// Close implements driver.Rows. database/sql calls it at the end of the rows as
// well as when the user does: pgx has then read the statement's end, so that
// what it wrote can be captured.
//
// Errors: pgx's own.
// Cost: those of flight.land.
func (r *rows) Close() error {
	if r.ended {
		return nil
	}
	r.ended = true
	if r.c.rows == r {
		r.c.rows = nil
	}
	defer r.c.rest()
	return r.flight.carry(func(_ *topology.Conn, f *flight) error { return f.land(r.pgxRows.Close()) })
}

// endRows ends rows that are over although their user has not closed them, as
// a result without rows is at once: pgx lets the connection be used again, so
// what the statement wrote must be known before it is. Rows of a read on a
// replica keep their connection, which nobody else needs.
func (c *Conn) endRows() {
	r := c.rows
	switch {
	case r == nil || r.on.Pgx().PgConn().IsBusy():
	case r.flight.borrowed:
		c.rows = nil
	default:
		_ = r.Close() // the query has returned the error, if there was one
	}
}

// busy returns what pgx says to a call on a connection whose rows are open.
// From its stdlib it is driver.ErrBadConn, upon which database/sql closes the
// connection, and waits for the very rows before it does.
func (c *Conn) busy(ctx context.Context) error {
	return c.rows.on.Pgx().Ping(ctx)
}

// abandon gives rows up that were never closed. Their connection cannot be used
// by anyone else.
func (r *rows) abandon() {
	r.ended = true
	if r.flight.borrowed {
		r.on.Destroy()
		return
	}
	r.flight.giveUp()
}
