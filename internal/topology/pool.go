package topology

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/jackc/puddle/v2"
)

// newPool returns the node's empty pool.
func (n *node) newPool() *puddle.Pool[*Conn] {
	size := n.c.cfg.Pool.MaxConns
	if size == 0 {
		size = math.MaxInt32
	}
	pool, err := puddle.NewPool(&puddle.Config[*Conn]{
		Constructor: n.dial,
		Destructor:  func(p *Conn) { p.hangUp() },
		MaxSize:     size,
	})
	if err != nil {
		panic("bug: puddle refuses a positive size: " + err.Error())
	}
	return pool
}

func (n *node) capped() bool { return n.c.cfg.Pool.MaxConns != 0 }

// maxStale is how many connections of no more use one borrower goes through. It
// bounds what a restarted server's full pool costs.
const maxStale = 1 << 10

var errAllStale = errors.New("pgryw: no connection in the pool is alive")

// acquire borrows a connection that is alive, was made in the node's present
// era, and is not too old. With queue unset it returns ErrBusy rather than wait
// for another borrower.
//
// Blocks until it has one, and stops when ctx or the Cluster ends.
func (n *node) acquire(ctx context.Context, queue bool) (*Conn, error) {
	for range maxStale {
		if n.c.closed.Load() {
			return nil, ErrClosed
		}
		res, err := n.take(ctx, queue)
		switch {
		case err == nil:
		case n.c.closed.Load():
			return nil, ErrClosed
		default:
			return nil, err
		}
		p := res.Value()
		p.res = res
		if p.fit() && p.awake(ctx, res.IdleDuration()) {
			return p, nil
		}
		p.Destroy()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, errAllStale
}

// take takes any connection from the pool, or has it make one.
func (n *node) take(ctx context.Context, queue bool) (*puddle.Resource[*Conn], error) {
	switch {
	case !n.capped():
		return n.pool.Acquire(ctx) // never waits for a borrower
	case queue:
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(n.c.ctx, cancel)()
		return n.pool.Acquire(ctx)
	}
	if n.pool.Stat().IdleResources() == 0 {
		if err := n.pool.CreateResource(ctx); err != nil && !errors.Is(err, puddle.ErrNotAvailable) {
			return nil, err
		}
	}
	res, err := n.pool.TryAcquire(n.c.ctx)
	if errors.Is(err, puddle.ErrNotAvailable) {
		return nil, ErrBusy
	}
	return res, err
}

// fit reports whether the connection may be borrowed, as far as that can be
// told without a round trip.
func (p *Conn) fit() bool { return !p.Closed() && p.Current() && time.Now().Before(p.expires) }

// awake pings a connection that has idled.
//
// Blocks until the server answers, and stops when ctx or the era ends.
func (p *Conn) awake(ctx context.Context, idle time.Duration) bool {
	if idle <= idleBeforePing {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.era.ctx, cancel)()
	if bound := p.n.c.cfg.Pool.PingTimeout; bound > 0 {
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	return p.pgx.Ping(ctx) == nil
}

// lifetime returns how long a new connection may live.
func (p PoolConfig) lifetime() time.Duration {
	if p.MaxConnLifetimeJitter <= 0 {
		return p.MaxConnLifetime
	}
	return p.MaxConnLifetime + rand.N(p.MaxConnLifetimeJitter)
}
