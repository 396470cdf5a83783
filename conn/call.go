package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// call is one Exec or Query, of a Conn or a Stmt.
type call struct {
	ctx      context.Context
	text     string
	args     []sqldriver.NamedValue
	prepared bool // of a Stmt: to be prepared where it runs
	stmt     router.Statement
	session  *lsn.Session
	// repair is set if the fence that the read needs sent it to the primary:
	// it carries a capture to mend it.
	repair bool
	// fell is set while the call is counted among those that fell back.
	fell bool
}

func (c *Conn) newCall(ctx context.Context, text string, args []sqldriver.NamedValue, prepared bool) *call {
	stmt := router.Classify(text)
	if rewritten(args) {
		stmt = router.Statement{Class: router.ClassUnknown, Starts: router.PinUnknown}
	}
	return &call{ctx: ctx, text: text, args: args, prepared: prepared, stmt: stmt, session: lsn.SessionFrom(ctx)}
}

// exec runs a statement without rows.
func (c *Conn) exec(ctx context.Context, text string, args []sqldriver.NamedValue, prepared bool) (sqldriver.Result, error) {
	call := c.newCall(ctx, text, args, prepared)
	var result sqldriver.Result
	err := c.run(call, func(p *topology.Conn, f *flight) error {
		var err error
		result, err = execOn(p, call)
		return f.land(err)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// query runs a statement with rows. What it wrote is captured when they end.
func (c *Conn) query(ctx context.Context, text string, args []sqldriver.NamedValue, prepared bool) (sqldriver.Rows, error) {
	call := c.newCall(ctx, text, args, prepared)
	var result *rows
	err := c.run(call, func(p *topology.Conn, f *flight) error {
		r, err := queryOn(p, call)
		if err != nil {
			return f.land(err)
		}
		if f.rejected() {
			return f.land(r.Close()) // it has no rows
		}
		result = &rows{pgxRows: r, c: c, on: p, flight: f}
		c.rows = result
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// attempt runs a call on a connection, in a flight that it lands when the call
// has ended.
type attempt func(*topology.Conn, *flight) error

// run carries one call out where the router sends it. try is called a second
// time if a replica failed or refused the statement before it delivered a row.
//
// Cost: on a replica that is not known fresh, one round trip for the guard.
func (c *Conn) run(call *call, try attempt) error {
	if c.endRows(); c.rows != nil {
		return c.busy(call.ctx)
	}
	c.endRaw()
	if c.broken {
		return sqldriver.ErrBadConn
	}
	c.bind()
	if c.inReplicaTx() {
		return c.runInReplicaTx(call, try)
	}
	c.h.cluster.Touch()
	d, done, err := c.leavePrimary(call, c.decide(call), try)
	if done {
		return err
	}
	if d, err = c.fallBack(call, d); err != nil {
		return err
	}
	if d.Replica() { // it has waited for one, past the cap
		if d, done, err = c.leavePrimary(call, d, try); done {
			return err
		}
		if d.Reason.FallsBack() {
			return ErrFallbackLimit
		}
	}
	return c.runOnPrimary(call, d, try)
}

// leavePrimary runs the call on the replica of a decision, after having waited
// for it if the decision says so. done is set if the caller has its answer, an
// error included; if not, the decision returned is for the primary.
func (c *Conn) leavePrimary(call *call, d router.Decision, try attempt) (_ router.Decision, done bool, _ error) {
	for waited := false; ; {
		if d.Wait > 0 {
			d = c.await(call.ctx, d, c.need(call.session).Position)
			waited = true
		}
		if !d.Replica() {
			return d, false, nil
		}
		why, err := c.runOnReplica(call, d, try)
		if why == router.ReasonNone {
			c.routed(call, d)
			return d, true, err
		}
		node := d.Node
		d = d.ToPrimary(c.h.cluster.Snapshot(), why)
		missed := why == router.ReasonGuardFailed || why == router.ReasonBehind
		if !missed || waited || c.h.policy.Wait == 0 {
			return d, false, nil
		}
		d.Wait, d.WaitFor = c.h.policy.Wait, node // it should be there any moment
	}
}

func (c *Conn) runOnPrimary(call *call, d router.Decision, try attempt) error {
	launched := false
	defer func() {
		if !launched {
			c.fellBack(call)
		}
	}()
	call.repair = d.Reason.Mends()
	c.routed(call, d)
	p, err := c.engage(call.ctx)
	if err != nil {
		return err
	}
	defer c.rest()
	f := c.launch(p, call)
	launched = true
	return f.carry(try)
}

// decide asks the router where the call may run.
func (c *Conn) decide(call *call) router.Decision {
	return router.Decide(c.h.cluster.Snapshot(), &c.h.policy, &router.Request{
		Statement:  call.stmt,
		Hint:       router.HintFrom(call.ctx),
		Need:       c.need(call.session),
		Pins:       c.pinsNow(),
		Remembered: c.h.writers.has(call.text),
		Turn:       c.h.turn.Add(1),
		Now:        time.Now(),
	})
}

// routed reports a call's decision.
func (c *Conn) routed(call *call, d router.Decision) {
	if call.session == nil {
		c.h.noteFenced(d.Reason)
	}
	c.h.route(call.ctx, d)
}

// route counts a decision and tells the hook.
func (h *Handle) route(ctx context.Context, d router.Decision) {
	h.counters.routes[d.Reason].Add(1)
	if h.onRoute != nil {
		h.onRoute(ctx, d)
	}
}
