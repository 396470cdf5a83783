package bench

import (
	"context"
	"database/sql"

	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// way is how a case is run.
type way int

const (
	plain  way = iota // pgx, to the server that the statement is for
	byHand            // pgx, with a position asked after a write and a check before a read
	pgryw
	ways
)

// handles are the databases of one run.
type handles struct {
	primary, standby *sql.DB // plain pgx
	pgryw            *sql.DB
}

// testCase is one call that is measured, for each way. Before is run ahead of
// each measurement, and is not measured.
type testCase struct {
	name   string
	before func(context.Context, *lab) error
	run    [ways]func(context.Context, *lab) error
}

const (
	setup = `CREATE TABLE counter (id int PRIMARY KEY, n bigint NOT NULL);
		INSERT INTO counter SELECT g, 0 FROM generate_series(1, 100) g`
	updateText    = `UPDATE counter SET n = n + 1 WHERE id = $1`
	returningText = updateText + ` RETURNING n`
	readText      = `SELECT n FROM counter WHERE id = $1`
	positionText  = `SELECT pg_current_wal_insert_lsn()`
	replayedText  = `SELECT pg_last_wal_replay_lsn()`
)

func exec(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, updateText, 1)
	return err
}

func one(ctx context.Context, db *sql.DB, text string, args ...any) error {
	var got any
	return db.QueryRowContext(ctx, text, args...).Scan(&got)
}

func transaction(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to roll back after COMMIT
	if _, err := tx.ExecContext(ctx, updateText, 1); err != nil {
		return err
	}
	return tx.Commit()
}

// write is a case of a call that writes: by hand its position is asked after it.
func write(name string, call func(context.Context, *sql.DB) error) testCase {
	return testCase{name: name, run: [ways]func(context.Context, *lab) error{
		plain: func(ctx context.Context, l *lab) error { return call(ctx, l.primary) },
		byHand: func(ctx context.Context, l *lab) error {
			if err := call(ctx, l.primary); err != nil {
				return err
			}
			return one(ctx, l.primary, positionText)
		},
		pgryw: func(ctx context.Context, l *lab) error { return call(ctx, l.pgryw) },
	}}
}

// read is a case of a read: by hand the replica is asked ahead of it how far it
// is.
func read(name string, server func(*lab) *sql.DB, on func(context.Context) context.Context) testCase {
	return testCase{name: name, run: [ways]func(context.Context, *lab) error{
		plain: func(ctx context.Context, l *lab) error { return one(ctx, server(l), readText, 1) },
		byHand: func(ctx context.Context, l *lab) error {
			if err := one(ctx, server(l), replayedText); err != nil {
				return err
			}
			return one(ctx, server(l), readText, 1)
		},
		pgryw: func(ctx context.Context, l *lab) error { return one(on(ctx), l.pgryw, readText, 1) },
	}}
}

// cases are what is measured.
func cases() []testCase {
	same := func(ctx context.Context) context.Context { return ctx }
	onPrimary := read("read on the primary", func(l *lab) *sql.DB { return l.primary }, router.WithPrimary)
	onPrimary.run[byHand] = nil
	steady := read("read, replica known fresh", func(l *lab) *sql.DB { return l.standby }, lsn.NewSession)
	guarded := read("read, replica guarded", func(l *lab) *sql.DB { return l.standby }, same)
	guarded.before = func(ctx context.Context, l *lab) error {
		if err := exec(ctx, l.pgryw); err != nil {
			return err
		}
		return l.cluster.CatchUp(ctx)
	}
	return []testCase{
		write("write", exec),
		write("INSERT/UPDATE RETURNING", func(ctx context.Context, db *sql.DB) error { return one(ctx, db, returningText, 1) }),
		write("BEGIN, write, COMMIT", transaction),
		steady,
		guarded,
		onPrimary,
	}
}
