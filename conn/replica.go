package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"strings"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// runOnReplica carries a read out on the replica that d names. It returns
// ReasonNone if the caller has its answer, an error included, and otherwise why
// the read goes to the primary after all.
func (c *Conn) runOnReplica(call *call, d router.Decision, try attempt) (router.Reason, error) {
	need := c.need(call.session)
	if need.Uncertain() {
		return router.ReasonUncertain, nil
	}
	if d.Reason == router.ReasonExpected {
		if !c.h.guess(d.Node) {
			return router.ReasonBehind, nil
		}
		defer c.h.guessed(d.Node)
	}
	p, why, err := c.borrowReplica(call.ctx, d.Node, need.Position)
	if p == nil {
		return why, err
	}
	f := c.launchOnReplica(p, call, need.Position)
	err = f.carry(try)
	switch {
	case err == nil:
		return router.ReasonNone, nil
	case f.out.Guard == wire.GuardRejected && f.out.GuardErr == nil:
		return router.ReasonGuardFailed, nil
	case f.out.Guard == wire.GuardRejected:
		return router.ReasonReplicaError, nil
	case call.ctx.Err() != nil:
		return router.ReasonNone, err
	}
	why = insteadOfReplica(err, f.lost)
	if why == router.ReasonRefused {
		c.h.writers.add(call.text)
	}
	return why, err
}

// borrowReplica borrows a connection to a replica. If none is to be had it
// returns nil and why the primary is to be used; ReasonNone with an error means
// that the caller's context has ended, which is nobody's fault.
func (c *Conn) borrowReplica(ctx context.Context, node int, need lsn.Position) (*topology.Conn, router.Reason, error) {
	p, err := c.h.cluster.Replica(ctx, node, c.primary == nil)
	switch {
	case err == nil && !p.Direct() && !need.IsZero():
		p.Release()
		return nil, router.ReasonIndirect, nil
	case err == nil:
		return p, router.ReasonNone, nil
	case ctx.Err() != nil:
		return nil, router.ReasonNone, ctx.Err()
	case errors.Is(err, topology.ErrBusy):
		return nil, router.ReasonReplicaBusy, nil
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
	code := sqlState(err)
	switch code {
	case "":
		if lost {
			return router.ReasonReplicaError
		}
		return router.ReasonNone
	case "25006", "55000":
		return router.ReasonRefused
	case "0A000":
		if planChanged(err) {
			return router.ReasonNone
		}
		return router.ReasonRefused
	case "42P01", "42703", "42883", "42704", "3F000", "42501", "22P02":
		return router.ReasonSchema
	case "40001", "57P01", "57P02", "57P03", "57P04", "53300":
		return router.ReasonReplicaError
	}
	if strings.HasPrefix(code, "08") {
		return router.ReasonReplicaError
	}
	return router.ReasonNone
}

// inReplicaTx reports whether a read-only transaction is open on a replica. One
// that a text of several statements has ended is given up here: its connection
// goes back, and what follows runs on the primary.
func (c *Conn) inReplicaTx() bool {
	t := c.tx
	if t == nil || t.replica == nil {
		return false
	}
	if t.replica.TxStatus() != statusIdle {
		return true
	}
	c.tx = nil
	t.giveBack()
	return false
}

// runInReplicaTx runs a call in the read-only transaction that is open on a
// replica.
func (c *Conn) runInReplicaTx(call *call, try attempt) error {
	t := c.tx
	switch {
	case wrongOnReplica(call.stmt):
		return ErrReplicaTransaction
	case t.replica.Closed():
		return sqldriver.ErrBadConn
	}
	if call.stmt.Class == router.ClassSession || call.stmt.Starts&^router.PinTx != 0 {
		t.stateful = true
	}
	c.h.route(call.ctx, router.Decision{
		Node: t.replica.Node(), Label: t.replica.Label(), Reason: router.ReasonTransaction,
		Class: call.stmt.Class, Cause: call.stmt.Why,
	})
	return c.launchInReplicaTx(call).carry(try)
}
