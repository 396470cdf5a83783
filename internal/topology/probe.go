package topology

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// probe asks the node again and again, until the Cluster is closed.
func (n *node) probe() {
	var interval, haste time.Duration // haste is the interval while somebody waits
	var asked time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-n.c.ctx.Done():
			return
		case <-n.wake:
			if rest := minProbeGap - time.Since(asked); rest > 0 && !n.waiters.any() {
				timer.Reset(rest)
				continue
			}
		case <-timer.C:
		}
		asked = time.Now()
		before := n.pair.Load()
		n.asking.Lock()
		n.askOnce()
		failed := n.failed
		n.asking.Unlock()
		if !failed && n.waiters.any() {
			haste = waitPace(haste, n.pair.Load().beyond(before))
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
	slower := min(2*max(interval, base), max(maxProbeInterval, base))
	return slower - rand.N(slower/8+1)
}

// askNow asks the node for a round. If the node is being asked already and does
// not answer, that is answer enough: it is not asked a second time.
func (n *node) askNow() {
	if !n.asking.TryLock() {
		n.asking.Lock()
		if n.failed {
			n.asking.Unlock()
			return
		}
	}
	defer n.asking.Unlock()
	n.askOnce()
}

// askOnce probes the node and records what it says. The caller holds n.asking.
//
// Blocks for at most the probe's bounds.
func (n *node) askOnce() {
	r, err := n.ask()
	n.failed = err != nil
	n.probes.Add(1)
	n.c.record(n, r, err)
}

// ask sends the probe's question, on the connection that it has or a new one. A
// connection that turns out to be lost says nothing of the server: a new one is
// made at once. The caller holds n.asking.
//
// Errors: pgx's own, or that the answer cannot be used.
func (n *node) ask() (report, error) {
	if n.moved.Swap(false) {
		n.hangUpProbe()
	}
	if n.conn != nil {
		r, err := n.askOn()
		if err == nil || n.conn != nil || pgconn.Timeout(err) {
			return r, err
		}
	}
	ctx, cancel := context.WithTimeout(n.c.ctx, probeDialTimeout)
	defer cancel()
	p, err := n.open(ctx)
	if err != nil {
		return report{}, err
	}
	n.conn = p
	return n.askOn()
}

func (n *node) askOn() (report, error) {
	ctx, cancel := context.WithTimeout(n.c.ctx, n.c.cfg.probeTimeout())
	defer cancel()
	pg := n.conn.pgx.PgConn()
	asked := time.Now()
	row, err := oneRow(ctx, pg, probeQuery)
	if pg.IsClosed() {
		n.hangUpProbe()
	}
	if err != nil {
		return report{}, err
	}
	r, err := readReport(row)
	r.asked, r.answered = asked, time.Now()
	return r, err
}

// hangUpProbe ends the probe's connection, without waiting for it. The caller
// holds n.asking.
func (n *node) hangUpProbe() {
	if n.conn != nil {
		go n.conn.hangUp()
		n.conn = nil
	}
}

// record takes in what a probe of n has brought back.
func (c *Cluster) record(n *node, r report, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return
	}
	first := !n.asked
	n.asked, n.err = true, err
	switch {
	case err == nil:
		n.hear(r)
	case !crowded(err):
		n.reached = false
	}
	c.tell(c.settle()...)
	if err == nil {
		c.takeIn(n, r)
	}
	c.publish()
	if first {
		c.noteDiscovered()
	}
}

// takeIn takes the position from a report, once it is settled what the node is.
// The caller holds c.mu.
func (c *Cluster) takeIn(n *node, r report) {
	switch {
	case n.index == c.found.primary:
		// The flush position, because no replica gets beyond it.
		c.history = sample(regress(c.history, r.asked, r.position.LSN), r.answered, r.durable)
		c.firstLags()
	case r.recovering && r.position.LSN != 0: // zero: it does not say
		n.hold(&heldPair{Pair: r.pair(), server: r.server, answered: r.answered})
	}
	if r.blind && !n.told.blind {
		n.told.blind = true
		c.tell(noteBlind(n))
	}
}

// crowded reports whether a server has refused a connection only because it has
// too many: connections that exist are as good as before.
//
// Source: https://www.postgresql.org/docs/18/errcodes-appendix.html, 53300.
func crowded(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "53300"
}

// noteDiscovered lets Discover go once every node was asked. The caller holds
// c.mu.
func (c *Cluster) noteDiscovered() {
	for _, n := range c.nodes {
		if !n.asked {
			return
		}
	}
	c.endDiscovery()
}
