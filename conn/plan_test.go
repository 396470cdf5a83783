package conn_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/router"
)

// TestAChangedPlanFailsOncePerConnection changes a table under a statement that
// a Stmt has prepared: pgx has every use of its text run that one, also a plain
// query's, and would for ever.
func TestAChangedPlanFailsOncePerConnection(t *testing.T) {
	h := open(t, start(t), "")
	ctx := router.WithPrimary(t.Context())
	for i, use := range map[string]func(*sql.Conn, *sql.Stmt, string) error{
		"a plain query": func(c *sql.Conn, _ *sql.Stmt, text string) error {
			return firstRow(c.QueryContext(ctx, text))
		},
		"the statement": func(_ *sql.Conn, stmt *sql.Stmt, _ string) error {
			return firstRow(stmt.QueryContext(ctx))
		},
		"the statement in a transaction": func(c *sql.Conn, stmt *sql.Stmt, _ string) error {
			tx, err := c.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			return firstRow(tx.StmtContext(ctx, stmt).QueryContext(ctx))
		},
	} {
		table := strings.ReplaceAll(i, " ", "_")
		exec(ctx, t, h, `DROP TABLE IF EXISTS `+table, fmt.Sprintf(`CREATE TABLE %s AS SELECT 1 AS a`, table))
		c := h.checkOut(t)
		text := `SELECT * FROM ` + table
		stmt, err := c.PrepareContext(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := use(c, stmt, text); err != nil {
			t.Errorf("%s: %v", i, err)
		}
		exec(ctx, t, h, fmt.Sprintf(`ALTER TABLE %s ADD COLUMN b int`, table))
		if err := use(c, stmt, text); err == nil || !strings.Contains(err.Error(), "cached plan") {
			t.Errorf("%s: got %v, want that the plan has changed", i, err)
		}
		if err := use(c, stmt, text); err != nil {
			t.Errorf("%s, again: %v", i, err)
		}
	}
}

func firstRow(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.Next()
	return rows.Err()
}
