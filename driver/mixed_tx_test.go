package driver_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

// execer is a *sql.Conn or a *sql.Tx.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// TestTransactionsOfBothKindsMayBeMixed begins and ends transactions by BeginTx
// and by text on one connection, as pgx's own driver allows, and reads the write
// elsewhere, with a standby that has stopped replaying.
func TestTransactionsOfBothKindsMayBeMixed(t *testing.T) {
	t.Parallel()
	c := startPaused(t, calmSetup)
	for i, tt := range []struct {
		name  string
		steps string // of the connection; those of BeginTx's transaction begin with tx
	}{
		{"a transaction by text in one of BeginTx", "tx begin; tx COMMIT; tx BEGIN; tx WRITE; tx commit"},
		{"two of them", "tx begin; tx COMMIT; tx BEGIN; tx ROLLBACK; tx BEGIN; tx WRITE; tx commit"},
		{"a write outside any", "tx begin; tx COMMIT; tx WRITE; tx commit"},
		{"BeginTx in a transaction by text", "BEGIN; WRITE; tx begin; tx commit"},
		{"BeginTx read-only in a transaction by text", "BEGIN; WRITE; tx begin read-only; tx commit"},
		{"BeginTx in a transaction by text that goes on", "BEGIN; tx begin; WRITE; tx commit"},
		{"BeginTx in a transaction by text, ended by text", "BEGIN; WRITE; tx begin; COMMIT; tx commit"},
		{"a savepoint that is left", "tx begin; tx SAVEPOINT a; tx WRITE; tx commit"},
		{"a chain in one of BeginTx", "tx begin; tx WRITE; tx COMMIT AND CHAIN; tx SELECT 1; tx rollback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, signs := range []string{"nobody", "everybody", "the write"} {
				db, routes := open(t, c.DSN(), "")
				held := conn(t, db)
				id := fmt.Sprint("mixed ", i, " by ", signs)
				session := lsn.NewSession(t.Context())
				var tx *sql.Tx
				for step := range strings.SplitSeq(tt.steps, "; ") {
					ctx := t.Context()
					if signs == "everybody" || signs == "the write" && strings.HasSuffix(step, "WRITE") {
						ctx = session
					}
					var err error
					var on execer = held
					step = strings.Replace(step, "WRITE", "INSERT INTO counter VALUES ('"+id+"', 1)", 1)
					text, inTx := strings.CutPrefix(step, "tx ")
					if inTx {
						on = tx
					}
					switch text {
					case "begin":
						tx, err = held.BeginTx(ctx, nil)
					case "begin read-only":
						tx, err = held.BeginTx(ctx, readOnly)
					case "commit":
						err = tx.Commit()
					case "rollback":
						err = tx.Rollback()
					default:
						_, err = on.ExecContext(ctx, text)
					}
					if err != nil {
						t.Fatalf("%s: %v", step, err)
					}
				}
				ctx := session
				if signs == "nobody" {
					ctx = t.Context()
				}
				if n, err := get(ctx, db, id); err != nil || n != 1 {
					t.Errorf("written by %s: got %d from %s by %s, %v", signs, n, routes.Last().Label, routes.Last().Reason, err)
				}
				if n, err := get(ctx, held, id); err != nil || n != 1 {
					t.Errorf("written by %s: on the connection: got %d, %v", signs, n, err)
				}
			}
		})
	}
}

// TestATransactionInAReplicasIsRefused begins a transaction on a connection that
// has one open on a replica, where the server would only warn.
func TestATransactionInAReplicasIsRefused(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	db, routes := open(t, c.DSN(), "")
	held := conn(t, db)
	for _, opts := range []*sql.TxOptions{nil, readOnly} {
		outer := begin(t, held, readOnly)
		if !routes.Last().Replica() {
			t.Fatalf("the transaction runs on %s", routes.Last().Label)
		}
		_, err := held.BeginTx(t.Context(), opts)
		if err == nil || err.Error() != "pgryw: a read-only transaction is open on this connection" {
			t.Errorf("got %v", err)
		}
		if _, err := get(t.Context(), outer, "calm"); err != nil {
			t.Errorf("the outer one: %v", err)
		}
		if err := outer.Commit(); err != nil {
			t.Errorf("the outer one: %v", err)
		}
		if _, err := get(t.Context(), held, "calm"); err != nil {
			t.Error(err)
		}
	}
}
