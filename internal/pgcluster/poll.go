package pgcluster

import (
	"context"
	"fmt"
	"time"
)

// patience bounds every wait whose context has no earlier end.
const patience = 30 * time.Second

// poll calls probe every few milliseconds until it is done or fails.
//
// Blocks until then, and stops when ctx ends or after patience, with an error
// that names what was waited for and what probe said last.
func poll(ctx context.Context, what string, probe func(context.Context) (done bool, state string, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	state := "nothing seen"
	for {
		done, seen, err := probe(ctx)
		if done {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("pgcluster: waiting for %s: %w (last: %s)", what, context.Cause(ctx), state)
		}
		if err != nil {
			return err
		}
		if seen != "" {
			state = seen
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}
