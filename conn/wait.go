package conn

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// await waits for the replica of a decision to replay the read's fence, and
// returns the decision changed in its favour if it has. The reader holds no
// server connection meanwhile, if it can be without: one that session state, a
// transaction or rows hold stays.
//
// Blocks for at most d.Wait, less a random share, so that a stall does not let
// all go at once; and stops when ctx ends.
// Cost: no round trip of its own.
func (c *Conn) await(ctx context.Context, d router.Decision, need lsn.Position) router.Decision {
	if !c.h.mayWait() {
		return d
	}
	defer c.h.waiting.Add(-1)
	if c.pins == 0 && !c.held() {
		c.giveBack()
	}
	if !c.h.cluster.Await(ctx, d.WaitFor, need, jittered(d.Wait)) {
		return d
	}
	return d.ToReplica(c.h.cluster.Snapshot(), d.WaitFor, router.ReasonWaited)
}

// mayWait counts one more waiting reader, if that leaves half of the logical
// connections to others: each of them is a slot of SetMaxOpenConns, which a
// stalled replica must not use up.
func (h *Handle) mayWait() bool {
	most := (h.counters.conns.Load() + 1) / 2
	if h.waiting.Add(1) > most {
		h.waiting.Add(-1)
		return false
	}
	return true
}

const (
	// guessNodes is for how many nodes guesses are told apart.
	guessNodes = 64
	// maxGuesses is how many reads at once try a replica that is only expected to
	// have replayed their fences. The answer to one teaches all: without a bound a
	// replica that has just stopped would be dialled by everybody.
	maxGuesses = 4
)

// guess counts one more read that tries a replica on a guess, if there are not
// enough already. Whoever got true calls guessed.
func (h *Handle) guess(node int) bool {
	if h.guesses[node%guessNodes].Add(1) <= maxGuesses {
		return true
	}
	h.guessed(node)
	return false
}

func (h *Handle) guessed(node int) { h.guesses[node%guessNodes].Add(-1) }

// jittered returns a budget shortened by up to a quarter.
func jittered(budget time.Duration) time.Duration {
	return budget - rand.N(budget/4+1)
}

// fallBack decides whether a read may go to the primary although a replica was
// meant to serve it. Past the cap it waits for one, however far behind that is,
// and fails if it does not come.
//
// Errors: ErrFallbackLimit; ctx's.
func (c *Conn) fallBack(call *call, d router.Decision) (router.Decision, error) {
	if c.h.maxFallback == 0 || !d.Reason.FallsBack() {
		return d, nil
	}
	if c.h.fallback.Add(1) <= c.h.maxFallback {
		call.fell = true
		return d, nil
	}
	c.h.fallback.Add(-1)
	if node, ok := c.h.cluster.Snapshot().AnyReplica(); ok && c.h.policy.Wait > 0 {
		d.Wait, d.WaitFor = c.h.policy.Wait, node
		if d = c.await(call.ctx, d, c.need(call.session).Position); d.Replica() {
			return d, nil
		}
	}
	if call.ctx.Err() != nil {
		return d, call.ctx.Err()
	}
	return d, ErrFallbackLimit
}

// fellBack takes a call out of the count of those that fell back. It may be
// called again.
func (c *Conn) fellBack(call *call) {
	if call != nil && call.fell {
		call.fell = false
		c.h.fallback.Add(-1)
	}
}
