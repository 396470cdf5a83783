package conn

import "github.com/pgryw/pgryw/router"

// undone is the session state that a statement which fails has not left behind.
// Advisory locks stay, and so may what a routine has done.
const undone = router.PinSet | router.PinRole | router.PinTemp | router.PinListen | router.PinPrepare | router.PinCursor

// notePins records the session state that a call has started or ended. What a
// transaction has ended counts as there still: a ROLLBACK would bring it back.
func (f *flight) notePins(err error) {
	stmt := f.call.stmt
	starts, ends := stmt.Starts&^router.PinTx, stmt.Ends
	if f.before != statusIdle || f.p.TxStatus() != statusIdle || err != nil {
		ends = 0
	}
	if stmt.Single && f.failed(err) {
		starts &^= undone
	}
	f.c.setPins(f.c.pins&^ends | starts)
}

// setPins replaces the pins, and counts the connection as pinned or not.
func (c *Conn) setPins(pins router.Pin) {
	was := c.pins
	c.pins = pins
	switch {
	case was == 0 && pins != 0:
		c.h.notePinned(1, pins)
	case was != 0 && pins == 0:
		c.h.notePinned(-1, 0)
	}
}

// pinsNow returns what keeps the checkout on its primary connection now.
func (c *Conn) pinsNow() router.Pin {
	if c.tx != nil || c.begun != nil {
		return c.pins | router.PinTx
	}
	return c.pins
}

// notePinned keeps the count of pinned connections, and says so once if more
// than half of them are.
func (h *Handle) notePinned(delta int64, why router.Pin) {
	pinned, conns := h.counters.pinned.Add(delta), h.counters.conns.Load()
	if delta > 0 && conns > 1 && pinned > conns/2 && !h.counters.pinnedLog.Swap(true) {
		h.logger.Warn("pgryw: more than half of the connections are pinned to the primary by session state",
			"pinned", pinned, "connections", conns, "last", why)
	}
}
