package topology

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/wire"
)

var (
	errNotOneRow = errors.New("pgryw: the server did not answer with one row")
	errNoShim    = errors.New("pgryw: BeforeConnect has replaced BuildFrontend with one that ignores its arguments")
)

// dial makes a connection to the node for its pool.
//
// Blocks as open, and stops when the node's era ends, too.
// Errors and cost: as open.
func (n *node) dial(ctx context.Context) (*Conn, error) {
	now := n.era.Load()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(now.ctx, cancel)()
	p, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	p.era = now
	p.expires = p.established.Add(n.c.cfg.Pool.lifetime())
	return p, nil
}

// open makes a connection to the node, with the shim under it, and asks the
// server who it is.
//
// Blocks until the server has answered, and stops when ctx or the Cluster ends,
// or after the DSN's connect_timeout (two minutes if it has none).
// Errors: pgx's own, and those of the hooks.
// Cost: one round trip more than pgx takes.
func (n *node) open(ctx context.Context) (*Conn, error) {
	std, err := n.connect(ctx)
	if err != nil {
		if n.c.single() {
			n.c.greet(identity{}, err)
		}
		return nil, err
	}
	p := &Conn{n: n, std: std, pgx: std.Conn()}
	pg := p.pgx.PgConn()
	p.shim = wire.Of(pg)
	p.unleash = context.AfterFunc(n.c.ctx, func() { cut(pg) })
	if err := p.introduce(ctx); err != nil {
		go p.hangUp() // which the caller need not wait for
		return nil, err
	}
	p.established = time.Now()
	return p, nil
}

// connect calls the hooks around pgx's stdlib connector, which would leave the
// connection open when AfterConnect fails.
func (n *node) connect(ctx context.Context) (*stdlib.Conn, error) {
	cfg := n.cfg.Conn.Copy() // the hook may change its maps
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = defaultConnectTimeout // puddle outwaits its caller
	}
	connector := stdlib.GetConnector(*cfg, stdlib.OptionBeforeConnect(func(ctx context.Context, cfg *pgx.ConnConfig) error {
		if before := n.c.cfg.BeforeConnect; before != nil {
			if err := before(ctx, cfg); err != nil {
				return err
			}
		}
		n.c.leash(&cfg.Config)
		wire.Install(&cfg.Config)
		return nil
	}))
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	std := conn.(*stdlib.Conn)
	if after := n.c.cfg.AfterConnect; after != nil {
		if err := after(ctx, std.Conn()); err != nil {
			_ = std.Close() // the hook's error is the one to tell
			return nil, err
		}
	}
	return std, nil
}

// introduce asks the server who it is. It is asked after the hook, whose
// settings are those of the connection. A single node may be any server that
// speaks the protocol: one that does not know the question is used as it is,
// without positions.
func (p *Conn) introduce(ctx context.Context) error {
	if p.shim == nil {
		return errNoShim
	}
	ctx, cancel := context.WithTimeout(ctx, p.connectTimeout())
	defer cancel()
	pg := p.pgx.PgConn()
	row, err := oneRow(ctx, pg, identityQuery)
	if err == nil {
		p.id, err = readIdentity(row)
	}
	if p.n.c.single() {
		p.n.c.greet(p.id, err)
		if !pg.IsClosed() {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	p.direct = p.id.pid != 0 && p.id.pid == pg.PID()
	if !p.direct && !p.n.c.single() {
		p.n.sayIndirect()
	}
	return nil
}

// connectTimeout is what the server may take for the introduction too.
func (p *Conn) connectTimeout() time.Duration {
	if d := p.n.cfg.Conn.ConnectTimeout; d > 0 {
		return d
	}
	return defaultConnectTimeout
}

// sayIndirect says once that there is a pooler before the server.
func (n *node) sayIndirect() {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if !n.told.indirect {
		n.told.indirect = true
		n.c.tell(noteIndirect(n))
	}
}

// hangUpBound is how long pgx tries to end a connection whose last statement was
// given up, if the server does not answer.
//
// Source: https://github.com/jackc/pgx/blob/v5.13.0/pgconn/pgconn.go, asyncClose.
const hangUpBound = 15 * time.Second

// hangUp is the end of the connection.
//
// Blocks until pgx has let it go, and stops when the Cluster ends, or after
// hangUpBound: nobody says when one ends that its user has hijacked.
func (p *Conn) hangUp() {
	_ = p.std.Close() // there is nobody to tell
	late := time.NewTimer(hangUpBound)
	defer late.Stop()
	select {
	case <-p.pgx.PgConn().CleanupDone():
	case <-late.C:
	case <-p.n.c.ctx.Done():
		cut(p.pgx.PgConn()) // unleash may come before the leash is pulled
	}
	p.unleash()
	signal(p.n.short)
}

// oneRow runs a query that has one row, as a simple Query, which every pooler
// passes on. Values are text; NULL is a nil cell.
//
// Errors: pgx's own; that there is not one row.
// Cost: one round trip.
func oneRow(ctx context.Context, pg *pgconn.PgConn, sql string) ([][]byte, error) {
	results, err := pg.Exec(ctx, sql).ReadAll()
	switch {
	case err != nil:
		return nil, err
	case len(results) != 1 || len(results[0].Rows) != 1:
		return nil, errNotOneRow
	}
	return results[0].Rows[0], nil
}
