// Package demo runs the same reads and writes three ways, on a primary and
// standbys that are late, and compares them: all on the primary, naive reads
// from the standbys, and pgryw.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// Options describe a demo.
type Options struct {
	Seed   uint64        // of what the users do
	Users  int           // how many there are at once, each with a session
	Length time.Duration // of the run of each way
	// Progress is called now and then with the state of the present run.
	// Default: nil. Zero means no call.
	Progress func(Progress)
}

// Run runs the three ways one after the other, and returns their results in
// that order.
//
// Blocks until all have ended, about three times o.Length, and stops when ctx
// ends.
//
// Errors: a statement failed, or a run took much longer than o.Length. A stale
// read is no error.
func Run(ctx context.Context, c *servers.Cluster, o Options) ([]Result, error) {
	if err := createTables(ctx, c, o.Users); err != nil {
		return nil, err
	}
	var results []Result
	for number, open := range ways {
		w, err := open(c, o.Users)
		if err != nil {
			return nil, err
		}
		w.number = number
		result, err := w.run(ctx, o)
		if err := errors.Join(err, w.close()); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, result)
	}
	return results, nil
}
