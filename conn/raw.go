package conn

import (
	"context"
	"sync/atomic"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Unwrap returns the primary's *pgx.Conn, for use inside (*sql.Conn).Raw, and
// pins the checkout to it. What is done with it is not known statement by
// statement; its command tags are watched, and each that may have written makes
// the handle's fences uncertain at once.
//
// Errors: those of connecting to the primary; ErrReplicaTransaction in a
// read-only transaction on a replica, whose connection is another.
// Cost: none if the checkout has a primary connection; else that of a new one.
func (c *Conn) Unwrap(ctx context.Context) (*pgxConn, error) {
	c.endRows()
	if c.inReplicaTx() {
		return nil, ErrReplicaTransaction
	}
	c.bind()
	p, err := c.engage(ctx)
	if err != nil {
		return nil, err
	}
	c.setPins(c.pins | router.PinRaw)
	c.raw = &rawWatch{h: c.h, system: p.System()}
	p.Shim().Watch(c.raw)
	return p.Pgx(), nil
}

// endRaw concludes from the first call after a Raw callback that it is over.
func (c *Conn) endRaw() {
	w := c.raw
	if w == nil {
		return
	}
	c.raw = nil
	if c.primary == nil {
		return
	}
	c.primary.Shim().Watch(nil)
	if c.primary.Closed() || c.primary.Pgx().PgConn().IsBusy() {
		w.Lost(nil) // also what is left in the middle: nobody may see its end
	}
	if n := lsn.Number(w.number.Load()); n != 0 {
		c.doubtOwn(c.h.floor(w.system), n)
	}
	c.adoptTx()
}

// adoptTx follows a transaction that the callback has left open, or ended.
func (c *Conn) adoptTx() {
	switch inTx := !c.primary.Closed() && c.primary.TxStatus() != statusIdle; {
	case inTx && c.tx == nil:
		c.tx = &transaction{authors: authors{unsigned: true}, wrote: true}
	case inTx:
		c.tx.wrote, c.tx.unsigned = true, true
	default:
		c.tx = nil
	}
}

// rawWatch is told of the command tags on an unwrapped connection. Its methods
// run on the goroutine that uses that connection, which need not be that of the
// Conn, and so touch only what is shared.
type rawWatch struct {
	h      *Handle
	system uint64
	wrote  bool
	number atomic.Uint64 // of the newest uncertainty; 0 if none
}

// harmless are the commands that write nothing that a read could miss. SELECT
// is not among them: WITH, CREATE TABLE AS and functions that write answer so.
//
// Source: https://www.postgresql.org/docs/18/protocol-message-formats.html,
// CommandComplete.
func harmless(tag string) bool {
	for i := range tag {
		if tag[i] == ' ' {
			tag = tag[:i]
			break
		}
	}
	switch tag {
	case "FETCH", "SHOW", "LISTEN", "UNLISTEN", "BEGIN", "SET":
		return true
	}
	return false
}

// Tag implements wire.Watcher.
func (w *rawWatch) Tag(tag []byte) {
	if !harmless(string(tag)) {
		w.wrote = true
	}
}

// Ready implements wire.Watcher: what has completed is committed now, or will
// be by a later command.
func (w *rawWatch) Ready(byte) {
	if w.wrote {
		w.wrote = false
		w.doubt()
	}
}

// Lost implements wire.Watcher: what was under way may be committed.
func (w *rawWatch) Lost(error) { w.doubt() }

func (w *rawWatch) doubt() {
	n := lsn.NextNumber()
	w.h.doubt(w.h.floor(w.system), n, true)
	w.number.Store(uint64(n))
}
