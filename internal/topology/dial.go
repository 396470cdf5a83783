package topology

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/wire"
)

var (
	errNotOneRow = errors.New("pgryw: the server did not answer with one row")
	errNoShim    = errors.New("pgryw: BeforeConnect has replaced BuildFrontend with one that ignores its arguments")
)

// dial makes a connection to the node, with the shim under it, and asks the
// server who it is.
//
// Blocks until the server has answered, and stops when ctx or the Cluster ends,
// or after the DSN's connect_timeout (two minutes if it has none).
// Errors: pgx's own, and those of the hooks.
// Cost: one round trip more than pgx takes.
func (n *node) dial(ctx context.Context) (*Conn, error) {
	generation := n.generation.Load()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.c.ctx, cancel)() //nolint:contextcheck // the end of either context ends the dial
	if n.cfg.Conn.ConnectTimeout == 0 {
		ctx, cancel = context.WithTimeout(ctx, defaultConnectTimeout)
		defer cancel()
	}
	std, err := n.connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &Conn{n: n, std: std, pgx: std.Conn(), generation: generation}
	if err := p.introduce(ctx); err != nil {
		return nil, errors.Join(err, std.Close())
	}
	p.established = time.Now()
	p.expires = p.established.Add(n.c.cfg.Pool.lifetime())
	if !n.live.add(p) {
		return nil, errors.Join(ErrClosed, std.Close())
	}
	return p, nil
}

// connect calls the hooks around pgx's stdlib connector, which would leave the
// connection open when AfterConnect fails.
func (n *node) connect(ctx context.Context) (*stdlib.Conn, error) {
	connector := stdlib.GetConnector(*n.cfg.Conn, stdlib.OptionBeforeConnect(func(ctx context.Context, cfg *pgx.ConnConfig) error {
		if before := n.c.cfg.BeforeConnect; before != nil {
			if err := before(ctx, cfg); err != nil {
				return err
			}
		}
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
			return nil, errors.Join(err, std.Close())
		}
	}
	return std, nil
}

// introduce asks the server who it is.
func (p *Conn) introduce(ctx context.Context) error {
	p.shim = wire.Of(p.pgx.PgConn())
	if p.shim == nil {
		return errNoShim
	}
	row, err := oneRow(ctx, p.pgx.PgConn(), identityQuery)
	if err != nil {
		return err
	}
	p.id, err = readIdentity(row)
	p.direct = p.id.pid == p.pgx.PgConn().PID()
	if err == nil && p.n.c.single() {
		p.n.c.adopt(p.id.server.system)
	}
	return err
}
