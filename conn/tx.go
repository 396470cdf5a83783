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
	// unsignedReads is set if a statement that seems to read had no session.
	unsignedReads bool
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
// One that could not be answered counts as yes. In a transaction that has, what
// seems to read may have written as well.
func (t *transaction) learn(x wire.XID) {
	t.wrote = t.wrote || x == wire.XIDAssigned || x == wire.XIDUnknown
	t.unsigned = t.unsigned || t.wrote && t.unsignedReads
}

// note records a statement of the transaction, its begin and end included.
func (t *transaction) note(call *call) {
	session := call.session
	if t.readOnly {
		session = t.first
	}
	t.sign(session)
	switch {
	case call.stmt.Captures(), !call.stmt.Single:
		t.wrote = true
		t.unsigned = t.unsigned || session == nil
	case call.stmt.Class != router.ClassControl:
		t.unsignedReads = t.unsignedReads || session == nil
	}
}

// join records a BeginTx in a transaction that is open already, which goes on.
func (t *transaction) join(session *lsn.Session) {
	t.sign(session)
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
// Errors: pgx's own; driver.ErrBadConn, with nothing sent, as Conn.engage.
// Cost: one round trip, as with pgx; one more on a replica that is not known
// fresh.
func (c *Conn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	if c.endRows(); c.rows != nil {
		return nil, c.busy(ctx)
	}
	c.endRaw()
	switch {
	case c.broken:
		return nil, sqldriver.ErrBadConn
	case c.inReplicaTx():
		return nil, errNested
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
		c.tx = &transaction{authors: authors{first: session}, readOnly: opts.ReadOnly, repair: repair}
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
	var tx sqldriver.Tx
	err = c.launchOnReplica(p, nil, need.Position).carry(func(p *topology.Conn, f *flight) error {
		var err error
		if tx, err = p.Std().BeginTx(ctx, opts); err != nil || f.rejected() {
			return f.land(err)
		}
		p.Shim().Finish()
		return nil
	})
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
// Errors: pgx's own, ErrTxCommitRollback included; driver.ErrBadConn, with
// nothing sent, if the connection is lost or its server is not the primary any
// more. A failed capture is none.
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
	c.endRaw()
	if c.begun == tx {
		c.begun = nil
	}
	switch {
	case tx.t.replica != nil:
		return tx.endOnReplica(end)
	case c.primary != p:
		return sqldriver.ErrBadConn // it was lost
	case !p.Current():
		return tx.lose()
	}
	defer c.rest()
	t := c.tx // another than BeginTx's, if text has ended that one and begun this
	if t == nil {
		return end()
	}
	t.sign(lsn.SessionFrom(tx.ctx))
	f := &flight{
		c: c, call: &call{ctx: tx.ctx, session: t.first}, p: p, number: lsn.LastNumber(),
		before: p.TxStatus(),
	}
	p.Shim().Arm(c.endFlight(t, f.before, commits))
	return f.carry(func(*topology.Conn, *flight) error {
		err := end()
		f.landTx(t)
		return err
	})
}

// landTx concludes from the end of a transaction.
func (f *flight) landTx(t *transaction) {
	c, p := f.c, f.p
	f.out = p.Shim().Finish()
	t.learn(f.out.XID)
	ended := !f.out.Broken && !p.Closed() && p.TxStatus() == statusIdle
	switch wrote := t.wrote && c.captures(&t.authors); {
	case wrote && ended:
		c.capture(f.call.ctx, f, &t.authors)
	case wrote:
		c.doubt(p.System(), &t.authors)
	case t.repair && ended:
		c.mend(f)
	}
	c.tx = nil
	if f.out.Broken {
		c.discard()
	}
	f.landed = true
}

// lose rolls a transaction back whose server is not the primary any more, by
// closing its connection: a COMMIT there would be acknowledged, and gone.
func (tx *Tx) lose() error {
	c := tx.c
	if t := c.tx; t != nil && t.wrote {
		c.doubt(tx.on.System(), &t.authors)
	}
	c.tx = nil
	c.discard()
	return sqldriver.ErrBadConn
}

func (tx *Tx) endOnReplica(end func() error) error {
	if tx.c.tx != tx.t { // its connection has gone back
		return sqldriver.ErrBadConn
	}
	tx.c.tx = nil
	defer tx.t.giveBack()
	return end()
}

// giveBack returns the connection of a transaction on a replica, or closes it if
// session state is left on it.
func (t *transaction) giveBack() {
	if t.stateful {
		t.replica.Destroy()
	} else {
		t.replica.Release()
	}
}
