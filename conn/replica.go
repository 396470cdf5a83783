package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// runOnReplica carries a read out on the replica that d names. It returns
// ReasonNone if the caller has its answer, an error included, and otherwise why
// the read goes to the primary after all.
func (c *Conn) runOnReplica(call *call, d router.Decision, try attempt) (router.Reason, error) {
	p, why, err := c.borrowReplica(call.ctx, d.Node, c.need(call.session))
	if p == nil {
		return why, err
	}
	f := &flight{p: p, borrowed: true}
	err = try(p, f)
	if err == nil || call.ctx.Err() != nil {
		return router.ReasonNone, err
	}
	why = insteadOfReplica(err, f.lost)
	if why == router.ReasonRefused {
		c.h.writers.add(call.text)
	}
	return why, err
}

// borrowReplica borrows a connection to a replica that has replayed need. If
// there is none it returns nil and why the primary is to be used; ReasonNone
// with an error means that the caller's context has ended, which is nobody's
// fault.
//
// Cost: one round trip to the replica, unless it is known fresh.
func (c *Conn) borrowReplica(ctx context.Context, node int, need lsn.State) (*topology.Conn, router.Reason, error) {
	p, err := c.h.cluster.Replica(ctx, node, c.primary == nil)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, router.ReasonNone, ctx.Err()
	case errors.Is(err, topology.ErrBusy):
		return nil, router.ReasonReplicaBusy, nil
	default:
		return nil, router.ReasonReplicaError, nil
	}
	if need.Position.IsZero() || p.Fresh(need.Position) {
		return p, router.ReasonNone, nil
	}
	pair, err := p.Guard(ctx)
	switch {
	case err == nil && pair.Position.Reaches(need.Position):
		return p, router.ReasonNone, nil
	case err == nil:
		p.Release()
		return nil, router.ReasonGuardFailed, nil
	}
	p.Release()
	if ctx.Err() != nil {
		return nil, router.ReasonNone, ctx.Err()
	}
	return nil, router.ReasonReplicaError, nil
}

// insteadOfReplica says whether a read that failed on a replica before it
// delivered a row is run on the primary: ReasonRefused if a standby refuses
// such statements, ReasonSchema if its schema or rights may be behind,
// ReasonReplicaError if the server failed or the connection is lost, and
// ReasonNone if the error is the statement's own.
//
// Source: https://www.postgresql.org/docs/18/errcodes-appendix.html
func insteadOfReplica(err error, lost bool) router.Reason {
	code, message := sqlState(err)
	switch code {
	case "":
		if lost {
			return router.ReasonReplicaError
		}
		return router.ReasonNone
	case "25006", "55000":
		return router.ReasonRefused
	case "0A000":
		if message == cachedPlanMessage {
			return router.ReasonNone
		}
		return router.ReasonRefused
	case "42P01", "42703", "42883", "42704", "3F000", "42501", "22P02":
		return router.ReasonSchema
	case "40001", "57P01", "57P02", "57P03", "57P04", "53300":
		return router.ReasonReplicaError
	}
	if code[:2] == "08" {
		return router.ReasonReplicaError
	}
	return router.ReasonNone
}

// cachedPlanMessage is the one 0A000 that says nothing about standbys.
//
// Source: src/backend/utils/cache/plancache.c, RevalidateCachedQuery.
const cachedPlanMessage = "cached plan must not change result type"

// runInReplicaTx runs a call in the read-only transaction that is open on a
// replica.
func (c *Conn) runInReplicaTx(call *call, try attempt) error {
	t := c.tx
	switch {
	case call.stmt.Class == router.ClassSession || call.stmt.Starts&router.PinSet != 0:
		t.stateful = true
	case wrongOnReplica(call.stmt):
		return ErrReplicaTransaction
	}
	if t.replica.Closed() {
		return sqldriver.ErrBadConn
	}
	c.h.route(call.ctx, router.Decision{
		Node: t.replica.Node(), Label: t.replica.Label(), Reason: router.ReasonTransaction,
		Class: call.stmt.Class, Cause: call.stmt.Why,
	})
	return try(t.replica, &flight{p: t.replica, standing: true})
}
