package topology

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// leash has all that is dialled with cfg end with the Cluster. pgx dials again,
// with the config of a connection, to cancel a statement on it, and waits for
// that in the background for up to 15 s.
func (c *Cluster) leash(cfg *pgconn.Config) {
	var established atomic.Bool
	dial, after := cfg.DialFunc, cfg.AfterConnect
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		conn, err := dial(ctx, network, addr)
		if err != nil || !established.Load() {
			return conn, err // what it becomes is cut by open
		}
		return &cancelConn{Conn: conn, free: context.AfterFunc(c.ctx, func() { _ = conn.Close() })}, nil
	}
	cfg.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
		established.Store(true)
		if after != nil {
			return after(ctx, pg)
		}
		return nil
	}
}

// cancelConn carries one cancel request. pgx always closes it.
type cancelConn struct {
	net.Conn
	free func() bool
}

func (c *cancelConn) Close() error {
	c.free()
	return c.Conn.Close()
}

// cut closes a connection's socket under its user, who finds out. TLS is passed
// by: it would say goodbye first, and might have to wait for that.
func cut(pg *pgconn.PgConn) {
	conn := pg.Conn()
	if outer, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = outer.NetConn()
	}
	_ = conn.Close()
}
