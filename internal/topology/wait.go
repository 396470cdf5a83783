package topology

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/pgryw/pgryw/lsn"
)

const (
	// minWaitProbe is how soon after an answer a replica is asked again while
	// somebody waits for it.
	minWaitProbe = time.Millisecond
	// maxWaitProbe is how far that grows while its answers bring nothing new.
	maxWaitProbe = 16 * time.Millisecond
)

// waiter is one reader that waits for a replica. It holds no connection.
type waiter struct {
	want lsn.Position
	over chan struct{} // closed when the outcome is known
	// reached is the outcome: written before over is closed.
	reached bool
	index   int // in waiters.queue; -1 when it is not there
}

// waiters are those of one node, in the order of their fences.
type waiters struct {
	mu    sync.Mutex
	queue waitQueue // guarded by mu
}

// Await blocks until the node is seen to have replayed want, and reports whether
// it has. It stops after budget, when ctx or the Cluster ends, and when the node
// follows another timeline. All who wait for a node share its probe, which asks
// faster while somebody does.
//
// Cost: no connection and no round trip of its own.
func (c *Cluster) Await(ctx context.Context, node int, want lsn.Position, budget time.Duration) bool {
	n := c.nodes[node]
	w := &waiter{want: want, over: make(chan struct{})}
	n.waiters.add(w)
	defer n.waiters.remove(w)
	if held := n.pair.Load(); held != nil && held.Position.Reaches(want) {
		return true // it came between the decision and the queue
	}
	n.kick()
	timer := time.NewTimer(budget)
	defer timer.Stop()
	select {
	case <-w.over:
		return w.reached
	case <-timer.C:
	case <-ctx.Done():
	case <-c.ctx.Done():
	}
	return false
}

func (ws *waiters) any() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.queue) > 0
}

func (ws *waiters) add(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	heap.Push(&ws.queue, w)
}

func (ws *waiters) remove(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.index >= 0 {
		heap.Remove(&ws.queue, w.index)
	}
}

// wake lets go those whose fence a pair reaches, the lowest first, and those of
// an older timeline, whose fence nothing will reach any more.
func (ws *waiters) wake(at lsn.Position) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for len(ws.queue) > 0 {
		lowest := ws.queue[0]
		reached := at.Reaches(lowest.want)
		if !reached && lowest.want.Timeline >= at.Timeline {
			return
		}
		heap.Pop(&ws.queue)
		lowest.reached = reached
		close(lowest.over)
	}
}

// waitPace returns when to ask a node again that somebody waits for: soon after
// an answer that brought it forward, and ever later while it stands still.
func waitPace(last time.Duration, moved bool) time.Duration {
	if moved {
		return minWaitProbe
	}
	return min(max(2*last, minWaitProbe), maxWaitProbe)
}

// waitQueue is a heap of waiters, the lowest fence on top.
type waitQueue []*waiter

// Len implements heap.Interface.
func (q waitQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q waitQueue) Less(i, j int) bool { return q[j].want.After(q[i].want) }

// Swap implements heap.Interface.
func (q waitQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *waitQueue) Push(x any) {
	w := x.(*waiter)
	w.index = len(*q)
	*q = append(*q, w)
}

// Pop implements heap.Interface.
func (q *waitQueue) Pop() any {
	old := *q
	w := old[len(old)-1]
	w.index = -1
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return w
}
