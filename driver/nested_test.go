package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
)

// TestNestedUseDoesNotStandInItsOwnWay reads and writes on other connections
// while rows are open, with as many connections as plain pgx needs, and with one
// physical connection for each server where that is enough.
func TestNestedUseDoesNotStandInItsOwnWay(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	const many = `SELECT i FROM generate_series(1, 20) i`
	for _, tt := range []struct {
		name, options string
		conns         int
		outer         string
		inner         func(ctx context.Context, db *sql.DB) error
	}{
		{"a read in rows of a replica", "", 2, many, innerRead},
		{"a read in rows of the primary", "", 2, many + ` WHERE pg_backend_pid() > 0`, innerRead},
		{"a write in rows of a replica", "", 2, many, innerWrite},
		{"a write in rows of the primary", "", 2, many + ` WHERE pg_backend_pid() > 0`, innerWrite},
		{"a write in rows of a replica, one connection each", "pgryw.pool_max_conns=1", 2, many, innerWrite},
		{"a write and a read in rows of a replica, one connection each", "pgryw.pool_max_conns=1", 2, many, func(ctx context.Context, db *sql.DB) error {
			c, err := db.Conn(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			if err := done(c.ExecContext(ctx, write)); err != nil {
				return err
			}
			_, err = get(ctx, c, "calm") // does not queue for the replica: it has the primary
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, _ := open(t, c.DSN(c.Primary(), c.Standby(0)), tt.options)
			settle(t, c, db)
			db.SetMaxOpenConns(tt.conns)
			err := inTime(t, "the nested use", func() error {
				rows, err := db.QueryContext(t.Context(), tt.outer)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					if err := tt.inner(t.Context(), db); err != nil {
						return err
					}
				}
				return rows.Err()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func innerRead(ctx context.Context, db *sql.DB) error {
	_, err := get(ctx, db, "calm")
	return err
}

func innerWrite(ctx context.Context, db *sql.DB) error { return done(db.ExecContext(ctx, write)) }

// TestOneConnectionIsEnough makes every kind of call with one logical connection
// and one physical connection for each server: none needs two at once.
func TestOneConnectionIsEnough(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(), "pgryw.pool_max_conns=1")
	db.SetMaxOpenConns(1)
	for round := range 3 {
		for _, k := range append(append([]kind(nil), writeKinds...), readKinds...) {
			what := fmt.Sprintf("%s, round %d", k.name, round)
			if err := inTime(t, what, func() error { return k.call(t.Context(), db, "") }); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
