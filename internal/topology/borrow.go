package topology

import (
	"context"
	"errors"

	"github.com/pgryw/pgryw/router"
)

// Primary borrows a connection to the primary. If none is known, or the one
// known cannot be reached or is none any more, every node is asked once who it
// is. A single node is taken as it is.
//
// Blocks until the pool has a connection, and stops when ctx ends.
// Errors: a *NoPrimaryError; pgx's own error of connecting, unchanged; ctx's;
// ErrClosed.
// Cost: none if the pool has a connection; else that of a new one.
func (c *Cluster) Primary(ctx context.Context) (*Conn, error) {
	if c.single() {
		return c.nodes[0].acquire(ctx, true)
	}
	failed := c.Snapshot().Primary
	p, err := c.borrowPrimary(ctx, failed)
	if err == nil || ctx.Err() != nil || c.closed.Load() {
		return p, err
	}
	found := func(s *router.Snapshot) bool {
		return s.Primary >= 0 && s.Primary != failed && s.Nodes[s.Primary].Trouble == router.ReasonNone
	}
	if err := c.rediscover(ctx, found); err != nil {
		return nil, err
	}
	s := c.Snapshot()
	if s.Primary < 0 || s.Primary == failed && s.Nodes[failed].Trouble != router.ReasonNone {
		return nil, c.noPrimary(failed, err)
	}
	p, err = c.borrowPrimary(ctx, s.Primary)
	if errors.Is(err, errNotPrimary) || errors.Is(err, errTurned) {
		return nil, c.noPrimary(s.Primary, err)
	}
	return p, err
}

// borrowPrimary borrows a connection to node i and makes sure that it leads to
// the server that was found to be the primary, and that this is one still.
//
// Errors: as acquire; returns errNotPrimary if it is not.
func (c *Cluster) borrowPrimary(ctx context.Context, i int) (*Conn, error) {
	if i < 0 {
		return nil, errNotPrimary
	}
	p, err := c.nodes[i].acquire(ctx, true)
	if err != nil {
		return nil, err
	}
	switch {
	case p.id.recovering, p.era.role != router.RolePrimary:
	case !p.id.server.sameRun(p.era.server):
		p.n.moved.Store(true)
	default:
		return p, nil
	}
	p.Destroy()
	return nil, errNotPrimary
}

// Replica borrows a connection to a node that is a replica. With queue unset it
// returns ErrBusy rather than wait for another borrower.
//
// Blocks until the pool has a connection, and stops when ctx ends.
// Errors: pgx's own error of connecting; ErrBusy; ctx's; ErrClosed; that the
// server is no replica of the cluster.
// Cost: none if the pool has a connection; else that of a new one.
func (c *Cluster) Replica(ctx context.Context, node int, queue bool) (*Conn, error) {
	n := c.nodes[node]
	p, err := n.acquire(ctx, queue)
	if err == nil && (!p.id.recovering || p.era.role != router.RoleReplica || p.System() != c.Snapshot().System) {
		p.Destroy()
		err = errNotReplica
	}
	if err != nil {
		if !errors.Is(err, ErrBusy) && ctx.Err() == nil {
			n.kick()
		}
		return nil, err
	}
	return p, nil
}
