package demo

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/pgryw/pgryw/router"
)

// patience is by how much longer than planned a run may take.
const patience = 4 * time.Second

// run lets all users work at once, and returns what came of it.
func (w *way) run(ctx context.Context, o Options) (Result, error) {
	limit := o.Length + patience
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the run did not end within %s", limit))
	defer cancel()
	if err := w.warmUp(ctx, o.Users); err != nil {
		return Result{}, err
	}
	before, err := w.routes()
	if err != nil {
		return Result{}, err
	}
	counters := &counters{}
	users := make([]*user, o.Users)
	for i := range users {
		users[i] = &user{id: i, way: w, steps: stream(o.Seed, i, o.Length), counters: counters}
	}
	begin := time.Now()
	stop := w.report(begin, counters, o)
	err = atOnce(ctx, users, func(ctx context.Context, u *user) error { return u.run(ctx, begin) })
	stop()
	if err != nil {
		return Result{}, err
	}
	after, err := w.routes()
	if err != nil {
		return Result{}, err
	}
	for reason, count := range before {
		after[reason] -= count
	}
	maps.DeleteFunc(after, func(_ router.Reason, count uint64) bool { return count == 0 })
	var reads []time.Duration
	for _, u := range users {
		reads = append(reads, u.reads...)
	}
	result := newResult(w.name, counters, reads)
	result.Reasons = after
	return result, nil
}

// warmUp makes a read for each user, all at once, so that the pools have their
// connections before the clock runs.
func (w *way) warmUp(ctx context.Context, count int) error {
	users := make([]*user, count)
	for i := range users {
		users[i] = &user{way: w, counters: &counters{}}
	}
	return atOnce(ctx, users, func(ctx context.Context, u *user) error {
		var one int
		return u.read(ctx, &one, "SELECT 1")
	})
}

// atOnce calls work for all users at once. The first error ends the context of
// the others and is returned.
func atOnce(ctx context.Context, users []*user, work func(context.Context, *user) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for _, u := range users {
		wg.Go(func() {
			if err := work(ctx, u); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	err := context.Cause(ctx)
	cancel(nil)
	return err
}
