package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/lsn"
)

// rounds is how often each call path writes and reads back.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("PGRYW_ROUNDS")); err == nil {
		return n
	}
	return 1000
}

// path is one way to write a counter.
type path struct {
	name    string
	options string // of the DSN
	write   func(ctx context.Context, db *sql.DB, id string, n int) error
}

const update = `UPDATE counter SET n = $2 WHERE id = $1`

func literal(id string, n int) string {
	return fmt.Sprintf(`UPDATE counter SET n = %d WHERE id = '%s'`, n, id)
}

// onConn returns a write that runs texts one after another on one connection.
func onConn(texts func(id string, n int) []string) func(context.Context, *sql.DB, string, int) error {
	return func(ctx context.Context, db *sql.DB, id string, n int) error {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		for _, text := range texts(id, n) {
			if _, err := c.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	}
}

func execArgs(ctx context.Context, db *sql.DB, id string, n int) error {
	_, err := db.ExecContext(ctx, update, id, n)
	return err
}

func execText(text func(id string, n int) string) func(context.Context, *sql.DB, string, int) error {
	return func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, text(id, n))
		return err
	}
}

func queryText(text string) func(context.Context, *sql.DB, string, int) error {
	return func(ctx context.Context, db *sql.DB, id string, n int) error {
		var got int
		return db.QueryRowContext(ctx, text, id, n).Scan(&got)
	}
}

// inTx returns a write in a transaction that body fills.
func inTx(body func(context.Context, *sql.Tx, string, int) error) func(context.Context, *sql.DB, string, int) error {
	return func(ctx context.Context, db *sql.DB, id string, n int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := body(ctx, tx, id, n); err != nil {
			return err
		}
		return tx.Commit()
	}
}

func txExec(ctx context.Context, tx *sql.Tx, id string, n int) error {
	_, err := tx.ExecContext(ctx, update, id, n)
	return err
}

var paths = []path{
	{"exec with arguments", "", execArgs},
	{"exec without arguments", "", execText(literal)},
	{"exec in mode cache_describe", "default_query_exec_mode=cache_describe", execArgs},
	{"exec in mode describe_exec", "default_query_exec_mode=describe_exec", execArgs},
	{"exec in mode exec", "default_query_exec_mode=exec", execArgs},
	{"exec in mode simple_protocol", "default_query_exec_mode=simple_protocol", execArgs},
	{"exec with a mode as first argument", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, update, pgx.QueryExecModeExec, id, n)
		return err
	}},
	{"exec with named arguments", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, `UPDATE counter SET n = @n WHERE id = @id`, pgx.NamedArgs{"n": n, "id": id})
		return err
	}},
	{"exec of a text that an argument rewrites", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, `SELECT 1`, rewriter(literal(id, n)))
		return err
	}},
	{"query with returning", "", queryText(update + ` RETURNING n`)},
	{"query of a writing CTE", "", queryText(`WITH w AS (` + update + ` RETURNING n) SELECT n FROM w`)},
	{"query of a writing function", "", queryText(`SELECT set_counter($1, $2)`)},
	{"query closed early", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		rows, err := db.QueryContext(ctx, `WITH w AS (`+update+`) INSERT INTO filler SELECT generate_series(1, 300) RETURNING *`, id, n)
		if err != nil {
			return err
		}
		rows.Next()
		return errors.Join(rows.Close(), rows.Err())
	}},
	{"statement", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		stmt, err := db.PrepareContext(ctx, update)
		if err != nil {
			return err
		}
		defer stmt.Close()
		_, err = stmt.ExecContext(ctx, id, n)
		return err
	}},
	{"statement with rows", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		stmt, err := db.PrepareContext(ctx, update+` RETURNING n`)
		if err != nil {
			return err
		}
		defer stmt.Close()
		return stmt.QueryRowContext(ctx, id, n).Scan(&n)
	}},
	{"transaction", "", inTx(txExec)},
	{"transaction of a statement", "", inTx(func(ctx context.Context, tx *sql.Tx, id string, n int) error {
		stmt, err := tx.PrepareContext(ctx, update)
		if err != nil {
			return err
		}
		defer stmt.Close()
		_, err = stmt.ExecContext(ctx, id, n)
		return err
	})},
	{"transaction with a savepoint", "", inTx(func(ctx context.Context, tx *sql.Tx, id string, n int) error {
		for _, text := range []string{"SAVEPOINT s", literal(id, -1), "ROLLBACK TO s", literal(id, n), "RELEASE s"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})},
	{"transaction ended by text", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := txExec(ctx, tx, id, n); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "COMMIT")
		return err
	}},
	{"serializable transaction", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := txExec(ctx, tx, id, n); err != nil {
			return err
		}
		return tx.Commit()
	}},
	{"asynchronous commit", "", inTx(func(ctx context.Context, tx *sql.Tx, id string, n int) error {
		if _, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		return txExec(ctx, tx, id, n)
	})},
	{"transaction by text", "", onConn(func(id string, n int) []string {
		return []string{"BEGIN", literal(id, n), "COMMIT"}
	})},
	{"transaction by other words", "", onConn(func(id string, n int) []string {
		return []string{"START TRANSACTION ISOLATION LEVEL REPEATABLE READ", literal(id, n), "END"}
	})},
	{"chained transaction", "", onConn(func(id string, n int) []string {
		return []string{"BEGIN", literal(id, n), "COMMIT AND CHAIN", "SELECT 1", "ROLLBACK"}
	})},
	{"several statements", "", execText(func(id string, n int) string {
		return literal(id, -1) + "; " + literal(id, n)
	})},
	{"several statements with a transaction", "", execText(func(id string, n int) string {
		return "BEGIN; " + literal(id, n) + "; COMMIT"
	})},
	{"several statements that begin another transaction", "", onConn(func(id string, n int) []string {
		return []string{"BEGIN; " + literal(id, n) + "; COMMIT; BEGIN; SELECT 1", "ROLLBACK"}
	})},
	{"call", "", execText(func(id string, n int) string { return fmt.Sprintf(`CALL commit_counter('%s', %d)`, id, n) })},
	{"do", "", execText(func(id string, n int) string {
		return fmt.Sprintf(`DO $$BEGIN UPDATE counter SET n = %d WHERE id = '%s'; END$$`, n, id)
	})},
	{"read of a writing view", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		if _, err := db.ExecContext(ctx, `UPDATE todo SET n = $2 WHERE id = $1`, id, n); err != nil {
			return err
		}
		var done int
		return db.QueryRowContext(ctx, `SELECT n FROM doing WHERE id = $1`, id).Scan(&done)
	}},
	{"read of a writing view in a transaction", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		if _, err := db.ExecContext(ctx, `UPDATE todo SET n = $2 WHERE id = $1`, id, n); err != nil {
			return err
		}
		return inTx(func(ctx context.Context, tx *sql.Tx, id string, n int) error {
			return tx.QueryRowContext(ctx, `SELECT n FROM doing WHERE id = $1`, id).Scan(&n)
		})(ctx, db, id, n)
	}},
}

// rewriter replaces the text of its call.
type rewriter string

func (r rewriter) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	return string(r), nil, nil
}

// elsewhere are writes made by someone else, which this handle comes to know of
// by a statement that writes nothing.
var elsewhere = []path{
	{"insert that meets the row", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, `INSERT INTO counter VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, -n)
		return err
	}},
	{"insert that fails on the row", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, `INSERT INTO counter VALUES ($1, $2)`, id, -n)
		return wantState(err, "23505")
	}},
	{"update of no row", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		_, err := db.ExecContext(ctx, `UPDATE counter SET n = 0 WHERE id = $1 AND n < $2`, id, n)
		return err
	}},
	{"transaction that is rolled back", "", func(ctx context.Context, db *sql.DB, id string, n int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO counter VALUES ($1, $2)`, id, -n)
		return errors.Join(wantState(err, "23505"), tx.Rollback())
	}},
}

func wantState(err error, code string) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == code {
		return nil
	}
	return fmt.Errorf("got %w, want SQLSTATE %s", err, code)
}

// readers are the ways to read a counter back.
var readers = []struct {
	name string
	read func(ctx context.Context, db *sql.DB, id string) (int64, error)
}{
	{"query", func(ctx context.Context, db *sql.DB, id string) (int64, error) { return get(ctx, db, id) }},
	{"query without arguments", func(ctx context.Context, db *sql.DB, id string) (n int64, err error) {
		err = db.QueryRowContext(ctx, `SELECT n FROM counter WHERE id = '`+id+`'`).Scan(&n)
		return n, err
	}},
	{"statement", func(ctx context.Context, db *sql.DB, id string) (n int64, err error) {
		stmt, err := db.PrepareContext(ctx, `SELECT n FROM counter WHERE id = $1`)
		if err != nil {
			return 0, err
		}
		defer stmt.Close()
		err = stmt.QueryRowContext(ctx, id).Scan(&n)
		return n, err
	}},
	{"read-only transaction", func(ctx context.Context, db *sql.DB, id string) (int64, error) {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return 0, err
		}
		defer func() { _ = tx.Rollback() }()
		n, err := get(ctx, tx, id)
		if err != nil {
			return 0, err
		}
		return n, tx.Commit()
	}},
}

const pathSetup = `
CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE todo (id text PRIMARY KEY, n bigint NOT NULL);
CREATE UNLOGGED TABLE filler (n int);
CREATE FUNCTION set_counter(text, bigint) RETURNS bigint LANGUAGE sql AS
	'UPDATE counter SET n = $2 WHERE id = $1 RETURNING n';
CREATE VIEW doing AS SELECT id, set_counter(id, n) AS n FROM todo;
CREATE PROCEDURE commit_counter(who text, k bigint) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL synchronous_commit = off;
	UPDATE counter SET n = k WHERE id = who;
	COMMIT;
END$$;
`

// TestEveryWriteIsReadBack writes on every path, and reads back on every
// reader, with one standby late and one that has stopped replaying.
func TestEveryWriteIsReadBack(t *testing.T) {
	c := startPaths(t)
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			db, _ := open(t, c.DSN(), p.options)
			for round := 1; round <= rounds(); round++ {
				ctx := sessionFor(t.Context(), round)
				if err := p.write(ctx, db, t.Name(), round); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				r := readers[round%len(readers)]
				n, err := r.read(ctx, db, t.Name())
				if err != nil {
					t.Fatalf("round %d, %s: %v", round, r.name, err)
				}
				if n != int64(round) {
					t.Fatalf("round %d, %s: got %d", round, r.name, n)
				}
			}
		})
	}
}

// TestWhatAWriterHasSeenIsReadBack lets someone else write, meets that by a
// statement that changes nothing, and reads it.
func TestWhatAWriterHasSeenIsReadBack(t *testing.T) {
	c := startPaths(t)
	for _, p := range elsewhere {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			db, _ := open(t, c.DSN(), p.options)
			other, err := sql.Open("pgx", c.Primary().DSN())
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			for round := 1; round <= rounds(); round++ {
				ctx := sessionFor(t.Context(), round)
				id := fmt.Sprint(t.Name(), round)
				if _, err := other.ExecContext(ctx, `INSERT INTO counter VALUES ($1, $2)`, id, round); err != nil {
					t.Fatal(err)
				}
				if err := p.write(ctx, db, id, round); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				r := readers[round%len(readers)]
				if n, err := r.read(ctx, db, id); err != nil || n != int64(round) {
					t.Fatalf("round %d, %s: got %d, %v", round, r.name, n, err)
				}
			}
		})
	}
}

// sessionFor gives every other round a session of its own.
func sessionFor(ctx context.Context, round int) context.Context {
	if round/2%2 == 0 {
		return ctx
	}
	return lsn.NewSession(ctx)
}
