package topology

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/router"
)

// probe asks the node again and again, until the Cluster is closed.
func (n *node) probe() {
	interval := n.c.cfg.Probe
	var haste time.Duration // the interval while somebody waits
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-n.c.ctx.Done():
			return
		case <-n.wake:
		case <-timer.C:
		}
		before := n.pair.Load()
		failed := n.askOnce(n.c.ctx) != nil
		if !failed && n.waiters.any() {
			haste = waitPace(haste, n.pair.Load() != before)
			timer.Reset(haste)
			continue
		}
		haste = 0
		interval = n.pace(interval, failed)
		timer.Reset(interval)
	}
}

// pace returns when to ask next: at the configured interval while statements
// run and the server answers, else ever later, with jitter so that the servers
// are not asked by everybody at once.
func (n *node) pace(interval time.Duration, failed bool) time.Duration {
	base := n.c.cfg.Probe
	unused := n.c.unused() > 4*base
	if !failed && !unused {
		return base
	}
	if unused {
		n.c.idle.Store(true)
	}
	slower := min(2*interval, max(maxProbeInterval, base))
	return slower - rand.N(slower/8+1)
}

// askOnce probes the node and records what it says.
//
// Blocks for at most the probe's bound.
// Errors: pgx's own, or that the answer cannot be used.
func (n *node) askOnce(ctx context.Context) error {
	n.asking.Lock()
	defer n.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, n.c.cfg.probeTimeout())
	defer cancel()
	r, err := n.ask(ctx)
	if n.c.closed.Load() {
		return ErrClosed
	}
	n.probes.Add(1)
	n.c.record(n, r, err)
	return err
}

func (n *node) ask(ctx context.Context) (report, error) {
	if n.conn == nil || n.conn.IsClosed() {
		conn, err := n.dialProbe(ctx)
		if err != nil {
			return report{}, err
		}
		n.conn = conn
	}
	asked := time.Now()
	row, err := oneRow(ctx, n.conn.PgConn(), probeQuery)
	if err != nil {
		_ = n.conn.Close(ctx) // the next probe makes another
		return report{}, err
	}
	r, err := readReport(row)
	r.asked, r.answered = asked, time.Now()
	return r, err
}

func (n *node) dialProbe(ctx context.Context) (*pgx.Conn, error) {
	cfg := n.cfg.Conn.Copy()
	if before := n.c.cfg.BeforeConnect; before != nil {
		if err := before(ctx, cfg); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if after := n.c.cfg.AfterConnect; after != nil {
		if err := after(ctx, conn); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
	}
	return conn, nil
}

// record takes in what a probe of n has brought back.
func (c *Cluster) record(n *node, r report, err error) {
	if err == nil && r.recovering && r.position.LSN != 0 {
		n.hold(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !n.asked
	n.asked, n.reached, n.err = true, err == nil, err
	if err == nil {
		n.last = r
	}
	c.settle()
	if err == nil && n.role == router.RolePrimary {
		c.history = sample(c.history, r.answered, r.position.LSN)
	}
	if held := n.pair.Load(); err == nil && held != nil && n.role == router.RoleReplica {
		n.lag = smooth(n.lag, lagOf(c.history, held.Position.LSN, held.Asked))
	}
	c.publish()
	if first {
		c.noteDiscovered()
	}
}

// hold takes a pair from a report, without publishing it.
func (n *node) hold(r report) {
	p := &heldPair{Pair: router.Pair{Position: r.position, Asked: r.asked}, server: r.server, answered: r.answered}
	for old := n.pair.Load(); p.supersedes(old); old = n.pair.Load() {
		if n.pair.CompareAndSwap(old, p) {
			n.waiters.wake(p.Position)
			return
		}
	}
}

// noteDiscovered lets Discover go once every node was asked. The caller holds
// c.mu.
func (c *Cluster) noteDiscovered() {
	for _, n := range c.nodes {
		if !n.asked {
			return
		}
	}
	close(c.discovered)
}
