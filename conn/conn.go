package conn

import (
	"context"
	sqldriver "database/sql/driver"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/router"
)

var (
	_ sqldriver.Conn               = (*Conn)(nil)
	_ sqldriver.ConnBeginTx        = (*Conn)(nil)
	_ sqldriver.ConnPrepareContext = (*Conn)(nil)
	_ sqldriver.ExecerContext      = (*Conn)(nil)
	_ sqldriver.QueryerContext     = (*Conn)(nil)
	_ sqldriver.Pinger             = (*Conn)(nil)
	_ sqldriver.NamedValueChecker  = (*Conn)(nil)
	_ sqldriver.SessionResetter    = (*Conn)(nil)
	_ sqldriver.Validator          = (*Conn)(nil)
)

// Conn is a logical connection. It holds no server connection until a statement
// needs one: the primary's is then borrowed for the checkout, a replica's for
// one read.
//
// Concurrency: as every driver.Conn, used by one goroutine at a time;
// database/sql holds a lock around each call, those of its Rows, Stmts and Txs
// included.
type Conn struct {
	h        *Handle
	brackets *brackets
	fences

	primary *topology.Conn // borrowed; nil if none
	pins    router.Pin     // session state left on primary
	raw     *rawWatch      // the user has primary's *pgx.Conn in hand; nil if not
	tx      *transaction   // open, by BeginTx or by text; nil if none
	begun   *Tx            // begun by BeginTx and not ended by its methods yet
	rows    *rows          // open; nil if none
	broken  bool           // not to be used again
	closed  bool
}

// ExecContext implements driver.ExecerContext.
//
// Errors: pgx's own, unchanged; driver.ErrBadConn only if nothing was sent.
// Cost: one round trip, and what call.run adds.
func (c *Conn) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	return c.exec(ctx, query, args, false)
}

// QueryContext implements driver.QueryerContext.
//
// Errors and cost: as ExecContext.
func (c *Conn) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return c.query(ctx, query, args, false)
}

// Ping implements driver.Pinger: it pings the primary, whatever the state of
// the replicas.
//
// Cost: one round trip to the primary.
func (c *Conn) Ping(ctx context.Context) error {
	if c.endRows(); c.rows != nil && c.rows.on == c.primary {
		return c.busy(ctx)
	}
	p, err := c.engage(ctx)
	if err != nil {
		return err
	}
	defer c.rest()
	return p.Std().Ping(ctx)
}

// CheckNamedValue implements driver.NamedValueChecker. As with pgx's stdlib
// every value is passed on: pgx knows more types than database/sql.
func (c *Conn) CheckNamedValue(*sqldriver.NamedValue) error { return nil }

// ResetSession implements driver.SessionResetter: a checkout begins.
//
// Errors: driver.ErrBadConn if the connection was left in a transaction, has
// lost the primary connection that holds its session state, or is broken.
// Cost: none; one round trip if it is pinned and was idle for over a second.
func (c *Conn) ResetSession(ctx context.Context) error {
	c.brackets.reset.Store(true)
	c.endRaw()
	c.unbind()
	if c.broken || c.held() {
		return sqldriver.ErrBadConn
	}
	if c.primary == nil {
		return nil
	}
	if !c.primary.Current() {
		return sqldriver.ErrBadConn
	}
	return c.primary.Std().ResetSession(ctx)
}

// IsValid implements driver.Validator: a checkout ends. The primary's
// connection is given back unless session state is left on it.
func (c *Conn) IsValid() bool {
	c.brackets.valid.Store(true)
	c.endRaw()
	c.unbind()
	if c.pins == 0 && !c.held() {
		c.giveBack()
	}
	return !c.broken
}

// Close implements driver.Conn. Server connections that hold a transaction,
// rows or session state are closed; the others go back to their pools.
//
// Cost: none that is waited for.
func (c *Conn) Close() error {
	c.endRaw()
	c.unbind()
	if c.rows != nil {
		c.rows.abandon()
	}
	if t := c.tx; t != nil && t.replica != nil {
		t.replica.Destroy()
	}
	c.giveBack()
	c.tx, c.begun, c.rows = nil, nil, nil
	if !c.closed {
		c.closed, c.broken = true, true
		c.h.counters.conns.Add(-1)
	}
	return nil
}

// engage returns the primary's connection of this checkout, borrowing one if
// need be.
//
// Blocks until the node's pool has a connection, and stops when ctx ends.
// Errors: driver.ErrBadConn if the checkout's session state or transaction was
// on a server that is no longer the primary, or on a connection that is lost.
func (c *Conn) engage(ctx context.Context) (*topology.Conn, error) {
	c.endRaw()
	if c.broken {
		return nil, sqldriver.ErrBadConn
	}
	if c.primary != nil && c.primary.Current() && !c.primary.Closed() {
		return c.primary, nil
	}
	if c.pins != 0 || c.holdsPrimary() {
		c.broken = true
		return nil, sqldriver.ErrBadConn
	}
	c.giveBack()
	p, err := c.h.cluster.Primary(ctx)
	if err != nil {
		return nil, err
	}
	c.primary = p
	return p, nil
}

// rest gives the primary's connection back at the end of a call if nothing
// pins it and the checkout's end may not be reported.
func (c *Conn) rest() {
	if c.primary == nil || c.holdsPrimary() {
		return
	}
	if c.primary.Closed() {
		c.broken = c.broken || c.pins != 0
		c.giveBack()
		return
	}
	if c.pins == 0 && !c.brackets.valid.Load() {
		c.giveBack()
	}
}

// giveBack returns the primary's connection to its pool, or closes it if it
// holds what must not reach another user.
func (c *Conn) giveBack() {
	p := c.primary
	if p == nil {
		return
	}
	held := c.holdsPrimary()
	c.primary = nil
	if c.pins != 0 || held {
		c.setPins(0)
		p.Destroy()
		return
	}
	p.Release()
}

// discard closes the primary's connection, on which answers are still to come.
// Session state is lost with it.
func (c *Conn) discard() {
	p := c.primary
	if p == nil {
		return
	}
	held := c.holdsPrimary()
	c.primary = nil
	if c.pins != 0 || held {
		c.broken = true
		c.setPins(0)
	}
	p.Destroy()
}

// held reports whether a transaction or rows hold a server connection.
func (c *Conn) held() bool { return c.tx != nil || c.begun != nil || c.rows != nil }

// holdsPrimary reports whether they hold the primary's.
func (c *Conn) holdsPrimary() bool {
	switch {
	case c.tx != nil && c.tx.replica == nil, c.begun != nil && c.begun.t.replica == nil:
		return true
	}
	return c.rows != nil && c.rows.on == c.primary
}
