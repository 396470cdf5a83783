package conn

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// transaction is one transaction that is open on a server, begun by BeginTx or
// by text.
type transaction struct {
	// authors are BeginTx's session and those of all statements; unsigned is
	// set by writes only.
	authors
	// anyUnsigned is set if any statement had no session.
	anyUnsigned bool
	// readOnly is set if BeginTx said so: then only its session counts.
	readOnly bool
	// wrote is set once a statement ran that is not known to only read.
	wrote bool
	// replica is the connection of a read-only transaction that runs on one.
	replica *topology.Conn
	// stateful is set if session state may be left on replica.
	stateful bool
	// repair is set if a fence in doubt sent a read-only transaction to the
	// primary: its end carries a capture to mend it.
	repair bool
}

// learn records the answer to the question whether the transaction has written.
// One that could not be answered counts as yes.
func (t *transaction) learn(x wire.XID) {
	if x == wire.XIDAssigned || x == wire.XIDUnknown {
		t.wrote = true
		t.unsigned = t.unsigned || t.anyUnsigned
	}
}

// note records a statement of the transaction, its begin and end included.
func (t *transaction) note(call *call) {
	session := call.session
	if t.readOnly {
		session = t.first
	}
	t.sign(session)
	t.anyUnsigned = t.anyUnsigned || session == nil
	if call.stmt.Captures() || !call.stmt.Single {
		t.wrote = true
		t.unsigned = t.unsigned || session == nil
	}
}

// join records a BeginTx in a transaction that is open already, which goes on.
func (t *transaction) join(session *lsn.Session) {
	t.sign(session)
	t.anyUnsigned = t.anyUnsigned || session == nil
	t.readOnly = false // it may have written
}

// Tx is a transaction begun by BeginTx.
type Tx struct {
	c   *Conn
	ctx context.Context
	tx  sqldriver.Tx // pgx's
	t   *transaction
	on  *topology.Conn
}

// Begin implements driver.Conn.
func (c *Conn) Begin() (sqldriver.Tx, error) {
	return c.BeginTx(context.Background(), sqldriver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx. A read-only transaction may run on a
// replica that has replayed the fence of ctx's session; every other runs on the
// primary. All its statements run on one connection.
//
// Errors: pgx's own.
// Cost: one round trip, as with pgx; one more on a replica that is not known
// fresh.
func (c *Conn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	if c.endRows(); c.rows != nil {
		return nil, c.busy(ctx)
	}
	if c.tx != nil && c.tx.replica != nil {
		return nil, errNested
	}
	c.endRaw()
	if c.broken {
		return nil, sqldriver.ErrBadConn
	}
	c.bind()
	c.h.cluster.Touch()
	session := lsn.SessionFrom(ctx)
	d := router.DecideTx(c.h.cluster.Snapshot(), &c.h.policy, &router.TxRequest{
		ReadOnly:     opts.ReadOnly,
		Serializable: sql.IsolationLevel(opts.Isolation) == sql.LevelSerializable,
		Hint:         router.HintFrom(ctx),
		Need:         c.need(session),
		Pins:         c.pinsNow(),
		Turn:         c.h.turn.Add(1),
		Now:          time.Now(),
	})
	if d.Wait > 0 {
		d = c.await(ctx, d, c.need(session).Position)
	}
	if d.Replica() {
		tx, why, err := c.beginOnReplica(ctx, opts, d, session)
		if why == router.ReasonNone {
			c.h.route(ctx, d)
			return tx, err
		}
		d = d.ToPrimary(c.h.cluster.Snapshot(), why)
	}
	c.h.route(ctx, d)
	return c.beginOnPrimary(ctx, opts, session, d.Reason.Mends())
}

func (c *Conn) beginOnPrimary(ctx context.Context, opts sqldriver.TxOptions, session *lsn.Session, repair bool) (sqldriver.Tx, error) {
	p, err := c.engage(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := p.Std().BeginTx(ctx, opts)
	if err != nil {
		c.rest()
		return nil, err
	}
	if c.tx == nil {
		c.tx = &transaction{authors: authors{first: session}, anyUnsigned: session == nil, readOnly: opts.ReadOnly, repair: repair}
	} else {
		c.tx.join(session)
	}
	c.begun = &Tx{c: c, ctx: ctx, tx: tx, t: c.tx, on: p}
	return c.begun, nil
}

// beginOnReplica returns ReasonNone if the caller has its answer, and otherwise
// why the transaction is to run on the primary. The guard is asked ahead of
// BEGIN, so that the transaction's snapshot is taken after it.
func (c *Conn) beginOnReplica(ctx context.Context, opts sqldriver.TxOptions, d router.Decision, session *lsn.Session) (sqldriver.Tx, router.Reason, error) {
	need := c.need(session)
	if need.Uncertain() {
		return nil, router.ReasonUncertain, nil
	}
	if d.Reason == router.ReasonExpected {
		if !c.h.guess(d.Node) {
			return nil, router.ReasonBehind, nil
		}
		defer c.h.guessed(d.Node)
	}
	p, why, err := c.borrowReplica(ctx, d.Node, need.Position)
	if p == nil {
		return nil, why, err
	}
	if p.Serializable() {
		p.Release()
		return nil, router.ReasonSerializable, nil
	}
	f := c.launchOnReplica(p, nil, need.Position)
	tx, err := p.Std().BeginTx(ctx, opts)
	if f.rejected() || err != nil {
		err = f.land(err)
	} else {
		p.Shim().Finish()
	}
	switch {
	case err == nil:
		c.tx = &transaction{readOnly: true, replica: p}
		c.begun = &Tx{c: c, ctx: ctx, tx: tx, t: c.tx, on: p}
		return c.begun, router.ReasonNone, nil
	case errors.Is(err, errGuard):
		return nil, router.ReasonGuardFailed, nil
	case ctx.Err() != nil:
		return nil, router.ReasonNone, err
	}
	return nil, router.ReasonReplicaError, nil
}

// Commit implements driver.Tx. The position of what the transaction wrote is
// captured before it returns.
//
// Errors: pgx's own, ErrTxCommitRollback included. A failed capture is none.
// Cost: one round trip, as with pgx; one for the capture if it wrote, and one
// for the question if it is not known to have written.
func (tx *Tx) Commit() error {
	return tx.end(tx.tx.Commit, true)
}

// Rollback implements driver.Tx. It is captured like a COMMIT: the session has
// seen the primary's state.
//
// Errors and cost: as Commit.
func (tx *Tx) Rollback() error {
	return tx.end(tx.tx.Rollback, false)
}

func (tx *Tx) end(end func() error, commits bool) error {
	c, p := tx.c, tx.on
	c.endRows()
	if c.begun == tx {
		c.begun = nil
	}
	switch {
	case tx.t.replica != nil:
		return tx.endOnReplica(end)
	case c.primary != p: // lost
		return sqldriver.ErrBadConn
	}
	t := c.tx // another than BeginTx's, if text has ended that one and begun this
	if t == nil {
		defer c.rest()
		return end()
	}
	f := &flight{c: c, call: &call{ctx: tx.ctx, session: t.first}, p: p, number: lsn.LastNumber()}
	p.Shim().Arm(c.endFlight(t, p.TxStatus(), commits))
	err := end()
	f.out = p.Shim().Finish()
	c.tx = nil
	t.learn(f.out.XID)
	c.landTx(f, t)
	if f.out.Broken {
		c.discard()
	}
	c.rest()
	return err
}

// landTx concludes from the end of a transaction.
func (c *Conn) landTx(f *flight, t *transaction) {
	ended := !f.out.Broken && !f.p.Closed() && f.p.TxStatus() == statusIdle
	switch wrote := t.wrote && c.captures(&t.authors); {
	case wrote && ended:
		c.capture(f.call.ctx, f, &t.authors)
	case wrote:
		c.doubt(f.p.System(), &t.authors)
	case t.repair && ended:
		c.mend(f)
	}
}

func (tx *Tx) endOnReplica(end func() error) error {
	if tx.c.tx != tx.t { // Conn.Close has closed its connection
		return sqldriver.ErrBadConn
	}
	tx.c.tx = nil
	err := end()
	if tx.t.stateful {
		tx.on.Destroy()
	} else {
		tx.on.Release()
	}
	return err
}
