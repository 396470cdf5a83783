package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

var (
	_ sqldriver.Stmt             = (*Stmt)(nil)
	_ sqldriver.StmtExecContext  = (*Stmt)(nil)
	_ sqldriver.StmtQueryContext = (*Stmt)(nil)
)

// Stmt is a prepared statement: a text that is prepared on every server
// connection that it comes to run on.
//
// It must not implement driver.NamedValueChecker or driver.ColumnConverter:
// database/sql asks the statement first, which would disable Conn's.
//
// Source: https://github.com/golang/go/blob/go1.26.0/src/database/sql/convert.go,
// driverArgsConnLocked.
type Stmt struct {
	c          *Conn
	text       string
	paramCount int
}

// Prepare implements driver.Conn.
func (c *Conn) Prepare(query string) (sqldriver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext. The text is prepared at
// once, so that a faulty one fails here: on a replica if it is a read that may
// run there, and on the primary if not, or if the replica did not accept it.
//
// Errors: pgx's own.
// Cost: one round trip for each server asked that has not prepared it yet.
func (c *Conn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	n, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return &Stmt{c: c, text: query, paramCount: n}, nil
}

func (c *Conn) prepare(ctx context.Context, text string) (int, error) {
	c.endRows()
	switch {
	case c.broken:
		return 0, sqldriver.ErrBadConn
	case c.rows != nil:
		return prepareOn(ctx, c.rows.on, text)
	case c.inReplicaTx():
		return prepareOn(ctx, c.tx.replica, text)
	}
	if p := c.replicaForPrepare(ctx, text); p != nil {
		n, err := prepareOn(ctx, p, text)
		p.Release()
		if err == nil || ctx.Err() != nil {
			return n, err
		}
	}
	p, err := c.engage(ctx)
	if err != nil {
		return 0, err
	}
	defer c.rest()
	return prepareOn(ctx, p, text)
}

// replicaForPrepare borrows a connection to a replica that may run the text, or
// returns nil. What the replica has replayed does not matter.
func (c *Conn) replicaForPrepare(ctx context.Context, text string) *topology.Conn {
	d := router.Decide(c.h.cluster.Snapshot(), &c.h.policy, &router.Request{
		Statement: router.Classify(text), Hint: router.HintFrom(ctx), Pins: c.pinsNow(),
		Remembered: c.h.writers.has(text), Turn: c.h.turn.Add(1), Now: time.Now(),
	})
	if !d.Replica() {
		return nil
	}
	p, _, err := c.borrowReplica(ctx, d.Node, lsn.Position{})
	if err != nil {
		return nil
	}
	return p
}

// Close implements driver.Stmt. The server's statements stay with their
// connections, which keep the latest and drop the others.
func (s *Stmt) Close() error { return nil }

// NumInput implements driver.Stmt: the number of parameters, as the server
// counts them.
func (s *Stmt) NumInput() int { return s.paramCount }

// Exec implements driver.Stmt. database/sql never calls it.
func (s *Stmt) Exec([]sqldriver.Value) (sqldriver.Result, error) {
	return nil, errors.New("pgryw: Stmt.Exec without a context is not supported")
}

// Query implements driver.Stmt. database/sql never calls it.
func (s *Stmt) Query([]sqldriver.Value) (sqldriver.Rows, error) {
	return nil, errors.New("pgryw: Stmt.Query without a context is not supported")
}

// ExecContext implements driver.StmtExecContext; see Conn.ExecContext.
func (s *Stmt) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	return s.c.exec(ctx, s.text, args, true)
}

// QueryContext implements driver.StmtQueryContext; see Conn.QueryContext.
func (s *Stmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return s.c.query(ctx, s.text, args, true)
}
