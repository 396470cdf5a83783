package conn

import (
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
	err := r.pgxRows.Close()
	if r.c.rows == r {
		r.c.rows = nil
	}
	err = r.flight.land(err)
	r.c.rest()
	return err
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
