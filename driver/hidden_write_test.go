package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// TestAWriteThatLooksLikeAReadIsFound reads a view that writes, as the only
// thing that its handle has ever done, and reads back what it wrote, with a
// standby that has stopped replaying.
func TestAWriteThatLooksLikeAReadIsFound(t *testing.T) {
	t.Parallel()
	c := startPaused(t, pathSetup+`
		INSERT INTO todo SELECT 'hidden' || i, 1 FROM generate_series(0, 999) i;
		INSERT INTO counter SELECT id, 0 FROM todo;`)
	const withArgs = `SELECT n FROM doing WHERE id = $1`
	literally := func(id string) string { return `SELECT n FROM doing WHERE id = '` + id + `'` }
	next := 0
	for _, mode := range execModes {
		for name, hide := range map[string]func(ctx context.Context, db *sql.DB, id string) error{
			"Query": func(ctx context.Context, db *sql.DB, id string) error {
				return drained(db.QueryContext(ctx, literally(id)))
			},
			"Query with arguments": func(ctx context.Context, db *sql.DB, id string) error {
				return drained(db.QueryContext(ctx, withArgs, id))
			},
			"Exec": func(ctx context.Context, db *sql.DB, id string) error {
				return done(db.ExecContext(ctx, literally(id)))
			},
			"Exec with arguments": func(ctx context.Context, db *sql.DB, id string) error { return done(db.ExecContext(ctx, withArgs, id)) },
			"Stmt": func(ctx context.Context, db *sql.DB, id string) error {
				return inStmt(withArgs, func(ctx context.Context, stmt *sql.Stmt) error { return drained(stmt.QueryContext(ctx, id)) })(ctx, db, "")
			},
			"Tx": func(ctx context.Context, db *sql.DB, id string) error {
				return inOneTx(nil, func(ctx context.Context, tx *sql.Tx, _ string) error {
					return drained(tx.QueryContext(ctx, withArgs, id))
				})(ctx, db, "")
			},
			"transaction by text": func(ctx context.Context, db *sql.DB, id string) error {
				return onConn(func(id string, _ int) []string { return []string{"BEGIN", literally(id), "END"} })(ctx, db, id, 0)
			},
			"chained transaction": func(ctx context.Context, db *sql.DB, id string) error {
				return onConn(func(id string, _ int) []string {
					return []string{"BEGIN", literally(id), "COMMIT AND CHAIN", "ROLLBACK"}
				})(ctx, db, id, 0)
			},
			"several statements": func(ctx context.Context, db *sql.DB, id string) error {
				return done(db.ExecContext(ctx, "SELECT 1; "+literally(id)))
			},
		} {
			t.Run(name+" in mode "+mode, func(t *testing.T) {
				ctx := t.Context()
				if next%2 == 1 {
					ctx = lsn.NewSession(ctx)
				}
				db, routes := open(t, c.DSN(), "default_query_exec_mode="+mode)
				id := fmt.Sprint("hidden", next)
				next++
				if err := hide(ctx, db, id); err != nil {
					t.Fatal(err)
				}
				if n, err := get(ctx, db, id); err != nil || n != 1 {
					t.Errorf("got %d from %s by %s, %v, want 1", n, routes.Last().Label, routes.Last().Reason, err)
				}
			})
		}
	}
}
