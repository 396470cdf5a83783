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
		n.asking.Lock()
		n.askOnce()
		failed := n.failed
		n.asking.Unlock()
		next := &interval
		if !failed && n.waiters.any() {
			haste = waitPace(haste, n.pair.Load().beyond(before))
			next = &haste
		} else {
			haste = 0
			interval = n.pace(interval, failed)
		}
		n.interval.Store(int64(*next))
		timer.Reset(*next)
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
// Blocks for at most the probe's bound.
func (n *node) askOnce() {
	ctx, cancel := context.WithTimeout(n.c.ctx, n.c.cfg.probeTimeout())
	defer cancel()
	r, err := n.ask(ctx)
	n.failed = err != nil
	n.probes.Add(1)
	n.c.record(n, r, err)
}

// ask sends the probe's question, on the connection that it has or a new one. A
// connection that turns out to be lost says nothing of the server: a new one is
// made at once. The caller holds n.asking.
//
// Errors: pgx's own, or that the answer cannot be used.
func (n *node) ask(ctx context.Context) (report, error) {
	if n.conn != nil {
		r, err := n.askOn(ctx)
		if err == nil || n.conn != nil || ctx.Err() != nil {
			return r, err
		}
	}
	p, err := n.open(ctx)
	if err != nil {
		return report{}, err
	}
	n.conn = p
	return n.askOn(ctx)
}

func (n *node) askOn(ctx context.Context) (report, error) {
	pg := n.conn.pgx.PgConn()
	asked := time.Now()
	row, err := oneRow(ctx, pg, probeQuery)
	if pg.IsClosed() {
		n.c.work.Go(n.conn.hangUp)
		n.conn = nil
	}
	if err != nil {
		return report{}, err
	}
	r, err := readReport(row)
	r.asked, r.answered = asked, time.Now()
	return r, err
}

// record takes in what a probe of n has brought back.
func (c *Cluster) record(n *node, r report, err error) {
	c.mu.Lock()
	if c.closed.Load() {
		c.mu.Unlock()
		return
	}
	first := !n.asked
	n.asked, n.err = true, err
	switch {
	case err == nil:
		n.reached, n.last = true, r
	case !crowded(err):
		n.reached = false
	}
	notes := c.settle()
	if err == nil {
		notes = append(notes, c.takeIn(n, r)...)
	}
	c.publish()
	if first {
		c.noteDiscovered()
	}
	c.mu.Unlock()
	for _, note := range notes {
		note.log(c.cfg.Logger)
	}
}

// takeIn takes the position from a report, once it is settled what the node is.
// The caller holds c.mu.
func (c *Cluster) takeIn(n *node, r report) []note {
	switch {
	case n.index == c.found.primary:
		// The flush position, because no replica gets beyond it.
		c.history = sample(c.history, r.answered, r.durable)
		c.firstLags()
	case r.recovering && r.position.LSN != 0: // zero: it does not say
		n.hold(&heldPair{Pair: r.pair(), server: r.server, answered: r.answered})
	}
	if r.blind && !n.told.blind {
		n.told.blind = true
		return []note{noteBlind(n)}
	}
	return nil
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
	close(c.discovered)
}
