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

var (
	// errTurned is why nobody is served who waited for what the node was.
	errTurned = errors.New("pgryw: the server has become something else meanwhile")
	// errUnfit is why a connection that was just made is not lent out.
	errUnfit = errors.New("pgryw: the server contradicts itself on a new connection")
)

// acquire borrows a connection that is alive, was made in the node's present
// era, and is not too old. With queue unset it returns ErrBusy rather than wait
// for another borrower.
//
// Blocks until it has one, and stops when ctx, the era or the Cluster ends.
func (n *node) acquire(ctx context.Context, queue bool) (*Conn, error) {
	began, now := time.Now(), n.era.Load()
	for {
		res, err := n.take(ctx, now, queue)
		if err == nil {
			p := res.Value()
			p.res = res
			if p.era == now && p.fit() && p.awake(ctx, res.IdleDuration()) {
				return p, nil
			}
			p.Destroy()
			if err = ctx.Err(); err == nil && p.established.After(began) {
				err = errUnfit
			}
		}
		switch {
		case n.c.closed.Load():
			return nil, ErrClosed
		case ctx.Err() == nil && now.ctx.Err() != nil:
			return nil, errTurned
		case err != nil:
			return nil, err
		}
	}
}

// take takes any connection from the pool, or has it make one.
func (n *node) take(ctx context.Context, now *era, queue bool) (*puddle.Resource[*Conn], error) {
	switch {
	case n.c.closed.Load():
		return nil, ErrClosed
	case !n.capped():
		return n.pool.Acquire(ctx) // never waits for a borrower
	case queue:
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(now.ctx, cancel)()
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
