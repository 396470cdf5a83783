package driver_test

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// BenchmarkCalls runs the same calls through plain pgx and through pgryw, on one
// primary and a standby. Compare the two of a pair, never with another run.
func BenchmarkCalls(b *testing.B) {
	c := pgcluster.New(b, pgcluster.Options{
		Standbys: 1,
		Settings: map[string]string{"log_statement": "none"},
		Setup:    `CREATE TABLE counter (id text PRIMARY KEY, n bigint NOT NULL); INSERT INTO counter VALUES ('a', 0)`,
	})
	if err := c.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, call := range []struct {
		name string
		node *pgcluster.Node // of plain pgx
		run  func(*testing.B, *sql.DB) error
	}{
		{"exec", c.Primary(), func(b *testing.B, db *sql.DB) error {
			b.Helper()
			_, err := db.ExecContext(b.Context(), `UPDATE counter SET n = n + 1 WHERE id = $1`, "a")
			return err
		}},
		{"transaction", c.Primary(), func(b *testing.B, db *sql.DB) error {
			b.Helper()
			tx, err := db.BeginTx(b.Context(), nil)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(b.Context(), `UPDATE counter SET n = n + 1 WHERE id = $1`, "a"); err != nil {
				return err
			}
			return tx.Commit()
		}},
		{"read", c.Standby(0), func(b *testing.B, db *sql.DB) error {
			b.Helper()
			var n int64
			return db.QueryRowContext(b.Context(), `SELECT n FROM counter WHERE id = $1`, "a").Scan(&n)
		}},
	} {
		for _, driver := range []struct{ name, dsn string }{{"pgx", call.node.DSN()}, {"pgryw", c.DSN()}} {
			b.Run(call.name+"/"+driver.name, func(b *testing.B) {
				db, err := sql.Open(driver.name, driver.dsn)
				if err != nil {
					b.Fatal(err)
				}
				defer db.Close()
				if call.name == "read" {
					if err := c.CatchUp(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := call.run(b, db); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
