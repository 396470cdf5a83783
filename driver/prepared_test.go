package driver_test

import (
	"fmt"
	"testing"
)

// TestPreparedStatementsDoNotPileUp prepares and closes ever new texts, as pgx's
// own driver lets a program do for ever, and counts what the server keeps. A
// statement that is still open goes on.
func TestPreparedStatementsDoNotPileUp(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, _ := open(t, c.DSN(c.Primary(), c.Standby(0)), "pgryw.pool_max_conns=1")
	settle(t, c, db)
	oldest, err := db.PrepareContext(t.Context(), readArgs)
	if err != nil {
		t.Fatal(err)
	}
	defer oldest.Close()
	if err := queryStmt(t.Context(), oldest); err != nil {
		t.Fatal(err)
	}
	const texts, most = 600, 512
	for i := range texts {
		for _, text := range []string{
			fmt.Sprintf(`SELECT n + %d FROM counter WHERE id = 'calm'`, i),
			fmt.Sprintf(`UPDATE counter SET n = n + %d WHERE id = 'nobody'`, i),
		} {
			stmt, err := db.PrepareContext(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stmt.ExecContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := stmt.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	const count = `SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'stmt\_%'`
	tx := begin(t, db, readOnly)
	for name, q := range map[string]querier{"the primary": db, "the replica": tx} {
		var n int
		if err := q.QueryRowContext(t.Context(), count).Scan(&n); err != nil || n > most || n < most/2 {
			t.Errorf("%s keeps %d statements, %v, want %d at most", name, n, err, most)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := queryStmt(t.Context(), oldest); err != nil {
		t.Errorf("the oldest: %v", err)
	}
}
