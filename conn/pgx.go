package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/topology"
)

// pgxConn and pgxRows are the types of pgx that the rest of the package names.
type (
	pgxConn = pgx.Conn
	pgxRows = stdlib.Rows
)

// Conn returns the primary's *pgx.Conn, under the name that pgx's own
// connection has it, or nil if the primary cannot be reached. Prefer
// driver.Unwrap, which takes a context and says why.
func (c *Conn) Conn() *pgx.Conn {
	p, _ := c.Unwrap(context.Background())
	return p
}

// execOn runs a call without rows, as pgx's stdlib does.
//
// Errors: pgx's own; driver.ErrBadConn if the connection was closed before.
func execOn(p *topology.Conn, call *call) (sqldriver.Result, error) {
	if p.Closed() {
		return nil, sqldriver.ErrBadConn
	}
	if err := prepareCall(p, call); err != nil {
		return nil, err
	}
	args := make([]any, len(call.args))
	for i := range call.args {
		args[i] = call.args[i].Value
	}
	tag, err := p.Pgx().Exec(call.ctx, call.text, args...)
	if err != nil {
		return nil, err
	}
	return sqldriver.RowsAffected(tag.RowsAffected()), nil
}

// unsent reports whether an error may be told as driver.ErrBadConn, given that
// nothing was sent.
func unsent(err error) bool {
	return errors.Is(err, sqldriver.ErrBadConn) || pgconn.SafeToRetry(err)
}

// queryOn runs a call with rows; pgx reads the first one ahead.
//
// Errors: pgx's own; driver.ErrBadConn where pgx says that nothing was sent.
func queryOn(p *topology.Conn, call *call) (*stdlib.Rows, error) {
	if err := prepareCall(p, call); err != nil {
		return nil, err
	}
	r, err := p.Std().QueryContext(call.ctx, call.text, call.args)
	if err != nil {
		return nil, err
	}
	return r.(*stdlib.Rows), nil
}

func prepareCall(p *topology.Conn, call *call) error {
	if !call.prepared {
		return nil
	}
	_, err := prepareOn(call.ctx, p, call.text)
	return err
}

// prepareOn prepares a text on a connection, unless it is, and returns the
// number of its parameters.
//
// Cost: one round trip the first time, and one more if another text has to make
// room.
func prepareOn(ctx context.Context, p *topology.Conn, text string) (int, error) {
	if p.Closed() {
		return 0, sqldriver.ErrBadConn
	}
	d, err := p.Pgx().Prepare(ctx, text, text)
	if err != nil {
		return 0, err
	}
	texts := preparedOn(p)
	texts.use(text)
	if victim, ok := texts.victim(); ok && p.Pgx().Deallocate(ctx, victim) == nil { // or else the next time
		texts.forget(victim)
	}
	return len(d.ParamOIDs), nil
}

// forgetText drops a prepared text that the server no longer runs, so that its
// next use prepares it again. pgx does so for the texts that it has prepared by
// itself.
//
// Cost: one round trip, after such an error only.
func forgetText(p *topology.Conn, call *call, err error) {
	if !(sqlState(err) == "26000" || planChanged(err)) || !preparedOn(p).has(call.text) {
		return
	}
	if p.Pgx().Deallocate(call.ctx, call.text) == nil { // in a failed transaction, too
		preparedOn(p).forget(call.text)
	}
}

// forgetAll drops all that pgx believes to be prepared, after a DISCARD ALL or
// DEALLOCATE ALL: the connection may be given to somebody who has not sent it.
//
// Cost: one round trip, which pgx offers no way around.
func forgetAll(p *topology.Conn, call *call) {
	preparedOn(p).forgetAll()
	_ = p.Pgx().DeallocateAll(call.ctx) // pgx forgets first; the server has dropped them
}

// rewritten reports whether the arguments make pgx send another text than the
// one that was classified.
func rewritten(args []sqldriver.NamedValue) bool {
	for i := range args {
		switch args[i].Value.(type) {
		case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		case pgx.NamedArgs, pgx.StrictNamedArgs: // they replace names by numbers, and nothing else
		case pgx.QueryRewriter:
			return true
		default:
			return false
		}
	}
	return false
}

// fromServer reports whether an error is the server's.
func fromServer(err error) bool { return sqlState(err) != "" }

// sqlState returns the SQLSTATE of a server's error, or "" for every other.
func sqlState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// planChanged reports whether a server's error is that the result of a prepared
// statement would have other columns now. Its message may be in any language.
//
// Source: src/backend/utils/cache/plancache.c, RevalidateCachedQuery.
func planChanged(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "0A000" && pgErr.Routine == "RevalidateCachedQuery"
}
