package demo

import (
	"context"
	"fmt"
	"time"
)

// user is one of those who work at once in a run.
type user struct {
	id       int
	way      *way
	steps    []step
	counters *counters
	reads    []time.Duration // how long each took
	revision int             // the last that the database has acknowledged
}

// run does the steps, each when it is due or, if that is past, at once.
func (u *user) run(ctx context.Context, begin time.Time) error {
	ctx = u.way.session(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, s := range u.steps {
		timer.Reset(time.Until(begin.Add(s.at)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := u.do(ctx, s); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
	}
	return nil
}

// do does one step.
func (u *user) do(ctx context.Context, s step) error {
	switch s.kind {
	case writeProfile:
		return u.write(ctx)
	case readProfile:
		var revision int
		if err := u.read(ctx, &revision, readProfileSQL, u.way.number, u.id); err != nil {
			return err
		}
		u.counters.ownReads.Add(1)
		if revision < u.revision {
			u.counters.staleReads.Add(1)
		}
		return nil
	default:
		var name string
		return u.read(ctx, &name, readProductSQL, s.product)
	}
}

// write saves the profile. From its return on, every read of this user must see
// it.
func (u *user) write(ctx context.Context) error {
	result, err := u.way.writes.ExecContext(ctx, writeProfileSQL, u.way.number, u.id, u.revision+1)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if changed != 1 {
		return fmt.Errorf("the profile of user %d was not saved: %d rows were changed", u.id, changed)
	}
	u.revision++
	u.counters.writes.Add(1)
	return nil
}

// read reads one value, and notes how long it took and where it ran.
func (u *user) read(ctx context.Context, value any, query string, args ...any) error {
	db := u.way.nextReader()
	ctx, testimony := attend(ctx)
	begin := time.Now()
	if err := db.QueryRowContext(ctx, query, args...).Scan(value); err != nil {
		return err
	}
	u.reads = append(u.reads, time.Since(begin))
	u.counters.reads.Add(1)
	if testimony.onStandby.Load() {
		u.counters.standbyReads.Add(1)
	}
	return nil
}
