package topology

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
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

// full reports whether a borrower would have to queue.
func (n *node) full() bool {
	if n.c.cfg.Pool.MaxConns == 0 {
		return false
	}
	s := n.pool.Stat()
	return s.IdleResources() == 0 && s.TotalResources() >= s.MaxResources()
}

// maxStale is how many connections of no more use one borrower goes through. It
// bounds what a restarted server's full pool costs.
const maxStale = 1 << 10

// acquire borrows a connection that is alive, was made since the node's last
// change of role, and is not too old.
func (n *node) acquire(ctx context.Context) (*Conn, error) {
	for range maxStale {
		if n.c.closed.Load() {
			return nil, ErrClosed
		}
		res, err := n.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		p := res.Value()
		p.res = res
		if p.Current() && !p.Closed() && time.Now().Before(p.expires) && p.awake(ctx, res.IdleDuration()) {
			return p, nil
		}
		p.Destroy()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, errors.New("pgryw: no connection in the pool is alive")
}

// awake pings a connection that has idled.
func (p *Conn) awake(ctx context.Context, idle time.Duration) bool {
	if idle <= idleBeforePing {
		return true
	}
	if bound := p.n.c.cfg.Pool.PingTimeout; bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	return p.Pgx().Ping(ctx) == nil
}

// lifetime returns how long a new connection may live.
func (p PoolConfig) lifetime() time.Duration {
	if p.MaxConnLifetimeJitter <= 0 {
		return p.MaxConnLifetime
	}
	return p.MaxConnLifetime + rand.N(p.MaxConnLifetimeJitter)
}

// keepHouse closes connections that are too old or idle for too long, and makes
// the ones that the pools are to have at least, until the Cluster is closed.
func (c *Cluster) keepHouse() {
	ticker := time.NewTicker(c.cfg.Pool.HealthCheckPeriod)
	defer ticker.Stop()
	for {
		for _, n := range c.nodes {
			n.tidy()
			n.fill()
		}
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (n *node) tidy() {
	limits := n.c.cfg.Pool
	total := n.pool.Stat().TotalResources()
	for _, res := range n.pool.AcquireAllIdle() {
		p := res.Value()
		old := !p.Current() || time.Now().After(p.expires)
		idle := res.IdleDuration() > limits.MaxConnIdleTime && total > limits.MinConns
		if old || idle {
			total--
			res.Destroy()
		} else {
			res.ReleaseUnused()
		}
	}
}

func (n *node) fill() {
	limits := n.c.cfg.Pool
	for {
		s := n.pool.Stat()
		short := s.TotalResources() < limits.MinConns || s.IdleResources() < limits.MinIdleConns
		if !short || s.TotalResources() >= s.MaxResources() {
			return
		}
		if err := n.pool.CreateResource(n.c.ctx); err != nil {
			return // the server is down, or we are: the next round tries again
		}
	}
}

// liveConns are the connections that exist, in use or not.
type liveConns struct {
	mu    sync.Mutex
	conns map[*Conn]struct{} // guarded by mu
	over  bool               // guarded by mu
}

// add notes a new connection; false if it must be closed at once.
func (l *liveConns) add(p *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	if l.conns == nil {
		l.conns = make(map[*Conn]struct{})
	}
	l.conns[p] = struct{}{}
	return true
}

func (l *liveConns) remove(p *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, p)
}

// cut closes the sockets of all, under their users, and lets no more in.
func (l *liveConns) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for p := range l.conns {
		_ = p.pgx.PgConn().Conn().Close() // its user finds out
	}
}
