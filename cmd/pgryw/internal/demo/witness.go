package demo

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// witness tells on which kind of server a read ran, by the word of that server,
// in the same manner for all ways: pgx calls it with the physical connection of
// every statement, and on every connection the server itself reports, unasked,
// whether it is a standby (in_hot_standby, which follows a promotion). To ask in
// the SQL would change what is measured: pg_is_in_recovery() is one of the
// functions that pgryw sends to the primary. Counters of the servers would count
// probes too.
//
// Source: https://www.postgresql.org/docs/17/protocol-flow.html#PROTOCOL-ASYNC
type witness struct{}

var _ pgx.QueryTracer = witness{}

type testimonyKey struct{}

// testimony is what is known of one statement.
type testimony struct {
	onStandby atomic.Bool // where it ran last: a read may be tried twice
}

// attend returns a context for one statement, and where its testimony will be.
func attend(ctx context.Context) (context.Context, *testimony) {
	t := &testimony{}
	return context.WithValue(ctx, testimonyKey{}, t), t
}

// TraceQueryStart implements pgx.QueryTracer.
func (witness) TraceQueryStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if t, ok := ctx.Value(testimonyKey{}).(*testimony); ok {
		t.onStandby.Store(conn.PgConn().ParameterStatus("in_hot_standby") == "on")
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (witness) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
