package topology

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jackc/puddle/v2"

	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Conn is a physical connection. Whoever has borrowed it has it alone, until
// Release or Destroy.
//
// Concurrency: one goroutine at a time.
type Conn struct {
	n    *node
	std  *stdlib.Conn
	pgx  *pgx.Conn
	shim *wire.Shim
	id   identity
	// direct is set if the connection leads to one server process and stays
	// there, without a pooler between.
	direct      bool
	era         *era
	unleash     func() bool // the end of the Cluster no longer cuts it
	established time.Time
	expires     time.Time
	res         *puddle.Resource[*Conn] // while it is borrowed
}

// Std returns pgx's stdlib connection.
func (p *Conn) Std() *stdlib.Conn { return p.std }

// Pgx returns pgx's connection.
func (p *Conn) Pgx() *pgx.Conn { return p.pgx }

// Shim returns what adds our questions to the flights of the connection.
func (p *Conn) Shim() *wire.Shim { return p.shim }

// Label returns the node's label.
func (p *Conn) Label() string { return p.n.cfg.Label }

// Node returns the node's index in a Snapshot.
func (p *Conn) Node() int { return p.n.index }

// System returns the system identifier of the connection's server.
func (p *Conn) System() uint64 { return p.id.server.system }

// Serializable reports whether transactions are serializable by default.
func (p *Conn) Serializable() bool { return p.id.serializable }

// Direct reports whether the connection leads to one server process and stays
// there. Behind a pooler two groups of messages may be answered by two servers.
func (p *Conn) Direct() bool { return p.direct }

// Closed reports whether the connection is closed.
func (p *Conn) Closed() bool { return p.pgx.IsClosed() }

// TxStatus returns the transaction status: 'I', 'T' or 'E'.
func (p *Conn) TxStatus() byte { return p.pgx.PgConn().TxStatus() }

// Parameter returns a parameter that the server has reported, or "".
func (p *Conn) Parameter(name string) string { return p.pgx.PgConn().ParameterStatus(name) }

// Current reports whether the connection may still be used as what it was
// borrowed for: its node has not become anything else since it was made, and
// neither has its server, as far as it tells.
//
// Cost: no round trip.
func (p *Conn) Current() bool {
	return p.n.c.single() || p.era == p.n.era.Load() && !(p.direct && p.turned())
}

// turned reports whether the server says by itself that it has entered or left
// recovery since the connection was made. Before PostgreSQL 14 it says nothing,
// and what a pooler says may be another server's.
//
// Source: https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-ASYNC,
// in_hot_standby.
func (p *Conn) turned() bool {
	switch p.Parameter("in_hot_standby") {
	case "on":
		return !p.id.recovering
	case "off":
		return p.id.recovering
	}
	return false
}

// Fresh reports whether the connection's server is known to have replayed want:
// a pair of that very server reaches it that was asked for after this
// connection was established. A crash restart, which moves replay back, would
// have ended the connection.
//
// Cost: no round trip, no lock.
func (p *Conn) Fresh(want lsn.Position) bool {
	held := p.n.pair.Load()
	return held != nil && p.direct && held.server == p.id.server &&
		held.Asked.After(p.established) && held.Position.Reaches(want)
}

// Captured reads the row of a CaptureQuery that was asked on the connection.
//
// Errors: the row cannot be used.
func (p *Conn) Captured(row [][]byte) (lsn.Position, error) {
	position, err := readCapture(row, p.id.geometry)
	if err == nil {
		p.n.c.Observe(position)
	}
	return position, err
}

// Capture asks the primary for its position.
//
// Errors: pgx's own, that of a standby included.
// Cost: one round trip.
func (p *Conn) Capture(ctx context.Context) (lsn.Position, error) {
	row, err := oneRow(ctx, p.pgx.PgConn(), CaptureQuery.SQL)
	if err != nil {
		return lsn.Position{}, err
	}
	return p.Captured(row)
}

// Paired reads the row of a GuardQuery that was asked on the connection, and
// lets everybody know: also that the replica is behind. asked is an instant
// before the question was sent.
//
// Errors: the row cannot be used; the server is not in recovery.
func (p *Conn) Paired(row [][]byte, asked time.Time) (router.Pair, error) {
	position, err := readPair(row)
	if err != nil {
		return router.Pair{}, err
	}
	pair := router.Pair{Position: position, Asked: asked}
	if p.direct {
		pair = p.n.c.learn(p.n, &heldPair{Pair: pair, server: p.id.server, answered: time.Now()})
	}
	return pair, nil
}

// Release gives the connection back, or closes it if it is of no more use:
// closed, busy, in a transaction, made before its node changed its role, or too
// old. One that is still being drained goes back when it is.
//
// Cost: none that is waited for.
func (p *Conn) Release() {
	if !p.shim.Draining() {
		p.putBack()
		return
	}
	go func() {
		_ = p.shim.Drain(p.n.c.ctx) // putBack closes what could not be drained
		p.putBack()
	}()
}

func (p *Conn) putBack() {
	res, pg := p.res, p.pgx.PgConn()
	if p.shim.Broken() || p.shim.Draining() || pg.IsBusy() || pg.TxStatus() != 'I' || !p.fit() || p.n.c.closed.Load() {
		p.Destroy()
		return
	}
	p.res = nil
	res.Release()
}

// Destroy closes the connection.
//
// Cost: none that is waited for.
func (p *Conn) Destroy() {
	res := p.res
	p.res = nil
	res.Destroy()
}
