package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// TestACommitIsSeenWhileTheNextTransactionIsOpen commits by texts that leave
// another transaction open, and reads elsewhere before that has ended.
func TestACommitIsSeenWhileTheNextTransactionIsOpen(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	next := 0
	for name, texts := range map[string][]string{
		"COMMIT AND CHAIN":             {"BEGIN", "WRITE", "COMMIT AND CHAIN"},
		"END AND CHAIN":                {"BEGIN ISOLATION LEVEL REPEATABLE READ", "WRITE", "END WORK AND CHAIN"},
		"a commit and a begin":         {"BEGIN", "WRITE", "COMMIT; BEGIN"},
		"everything in one text":       {"BEGIN; WRITE; COMMIT; BEGIN; SELECT 1"},
		"a begin behind a transaction": {"BEGIN; WRITE; COMMIT", "BEGIN"},
	} {
		for _, begins := range []bool{false, true} {
			if begins && texts[0] != "BEGIN" {
				continue
			}
			t.Run(fmt.Sprintf("%s, by BeginTx %t", name, begins), func(t *testing.T) {
				for _, ctx := range []context.Context{t.Context(), lsn.NewSession(t.Context())} {
					db, routes := open(t, c.DSN(), "")
					held := conn(t, db)
					id := fmt.Sprint("chain", next)
					next++
					var on interface {
						ExecContext(context.Context, string, ...any) (sql.Result, error)
					} = held
					texts := texts
					if begins {
						tx, err := held.BeginTx(ctx, nil)
						if err != nil {
							t.Fatal(err)
						}
						defer func() { _ = tx.Rollback() }()
						on, texts = tx, texts[1:]
					}
					for _, text := range texts {
						text = strings.Replace(text, "WRITE", "INSERT INTO counter VALUES ('"+id+"', 1)", 1)
						if _, err := on.ExecContext(ctx, text); err != nil {
							t.Fatalf("%s: %v", text, err)
						}
					}
					for range 2 {
						if n, err := get(ctx, db, id); err != nil || n != 1 {
							t.Errorf("elsewhere: got %d from %s by %s, %v", n, routes.Last().Label, routes.Last().Reason, err)
						}
					}
					if _, err := on.ExecContext(ctx, "ROLLBACK"); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}
