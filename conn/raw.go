package conn

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Unwrap returns the primary's *pgx.Conn, for use inside (*sql.Conn).Raw, and
// pins the checkout to it. What is done with it is not seen statement by
// statement: until the connection is used through database/sql again, every
// read of the handle goes to the primary.
//
// Errors: those of connecting to the primary.
// Cost: none if the checkout has a primary connection; else that of a new one.
func (c *Conn) Unwrap(ctx context.Context) (*pgx.Conn, error) {
	c.bind()
	p, err := c.engage(ctx)
	if err != nil {
		return nil, err
	}
	c.setPins(c.pins | router.PinRaw)
	c.raw = true
	c.h.raws.Add(1)
	return p.Pgx(), nil
}

// endRaw concludes from the first call after a Raw callback that it is over.
func (c *Conn) endRaw() {
	if !c.raw {
		return
	}
	c.raw = false
	if c.primary != nil {
		by := authorOf(nil)
		c.doubt(c.primary.System(), &by)
		c.adoptTx()
	}
	c.h.raws.Add(-1)
}

// adoptTx follows a transaction that the callback has left open or ended.
func (c *Conn) adoptTx() {
	switch inTx := !c.primary.Closed() && c.primary.TxStatus() != statusIdle; {
	case inTx && c.tx == nil:
		c.tx = &transaction{authors: authorOf((*lsn.Session)(nil)), anyUnsigned: true, wrote: true}
	case inTx:
		c.tx.wrote, c.tx.unsigned = true, true
	default:
		c.tx = nil
	}
}
