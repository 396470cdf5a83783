package conn_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/conn"
	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// TestATransactionOnAReplicaIsEndedByItsTxOnly refuses texts that would end it,
// and sends to the primary what follows a text that did so all the same.
func TestATransactionOnAReplicaIsEndedByItsTxOnly(t *testing.T) {
	h := open(t, start(t), "default_query_exec_mode=simple_protocol")
	for _, behind := range []string{"SELECT 1; COMMIT", "SET LOCAL application_name = 'mine'; ROLLBACK"} {
		session := lsn.NewSession(t.Context())
		tx, err := h.BeginTx(session, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if !h.route().Replica() {
			t.Fatalf("the transaction runs on the primary by %s", h.route().Reason)
		}
		for _, text := range []string{"COMMIT", "ROLLBACK", "END AND CHAIN", "PREPARE TRANSACTION 'x'"} {
			if _, err := tx.ExecContext(session, text); !errors.Is(err, conn.ErrReplicaTransaction) {
				t.Errorf("%s: got %v, want ErrReplicaTransaction", text, err)
			}
		}
		exec(session, t, tx, "SAVEPOINT s", "ROLLBACK TO s", behind)
		id := "behind " + behind
		exec(session, t, h, put(id))
		var n int
		if err := tx.QueryRowContext(session, `SELECT count(*) FROM mark WHERE id = $1`, id).Scan(&n); err != nil || n == 0 {
			t.Errorf("a read behind it found %d rows on %s, %v", n, h.route().Label, err)
		}
		if err := tx.Rollback(); !errors.Is(err, sqldriver.ErrBadConn) {
			t.Errorf("got %v, want ErrBadConn: the transaction is not there any more", err)
		}
	}
	h.wantNothingBorrowed(t)
}

// TestAnUnsignedReadThatWritesInASignedTransactionIsSeenByAll has a session's
// transaction write, and a statement without a session read a view that writes.
// A statement that cannot write disturbs nobody.
func TestAnUnsignedReadThatWritesInASignedTransactionIsSeenByAll(t *testing.T) {
	h := open(t, start(t), "")
	session, other := lsn.NewSession(t.Context()), lsn.NewSession(t.Context())
	inTx := func(body func(*sql.Tx)) {
		tx, err := h.BeginTx(session, nil)
		if err != nil {
			t.Fatal(err)
		}
		body(tx)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	inTx(func(tx *sql.Tx) {
		exec(session, t, tx, put("signed"))
		exec(t.Context(), t, tx, "SAVEPOINT s")
	})
	if h.sees(other, t, "signed") {
		t.Error("another session was disturbed")
	}
	exec(session, t, h, `INSERT INTO todo VALUES ('unsigned in signed')`)
	inTx(func(tx *sql.Tx) {
		exec(session, t, tx, put("signed, too"))
		var id string
		if err := tx.QueryRowContext(t.Context(), `SELECT mark FROM doing WHERE id = 'unsigned in signed'`).Scan(&id); err != nil {
			t.Fatal(err)
		}
	})
	h.wantSeen(t, "unsigned in signed", session, other)
}

// TestACursorWithHoldIsAWrite declares cursors over a view that writes: their
// queries are run when the transaction is committed.
func TestACursorWithHoldIsAWrite(t *testing.T) {
	for id, texts := range map[string][]string{
		"held":                  {"DECLARE"},
		"held in a transaction": {"BEGIN", "DECLARE", "COMMIT"},
	} {
		h := open(t, start(t), "")
		c := h.checkOut(t)
		for _, text := range texts {
			exec(t.Context(), t, c, strings.Replace(text, "DECLARE",
				`DECLARE held CURSOR WITH HOLD FOR SELECT mark FROM doing WHERE id = '`+id+`'`, 1))
		}
		h.wantSeen(t, id, t.Context())
	}
}

// TestARawWriteInATransactionIsCaptured leaves nothing uncertain behind: the
// transaction's end locates what the callback wrote.
func TestARawWriteInATransactionIsCaptured(t *testing.T) {
	h := open(t, start(t), "")
	session, other := lsn.NewSession(t.Context()), lsn.NewSession(t.Context())
	c := h.checkOut(t)
	tx, err := c.BeginTx(session, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Raw(func(dc any) error {
		raw, err := driver.Unwrap(t.Context(), dc)
		if err != nil {
			return err
		}
		_, err = raw.Exec(t.Context(), `INSERT INTO mark VALUES ($1)`, pgx.QueryExecModeExec, "raw in a transaction")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{session, other, t.Context()} {
		h.wantSeen(t, "raw in a transaction", ctx)
		if h.route().Reason == router.ReasonUncertain {
			t.Error("the fence is uncertain, want that it was captured")
		}
	}
}

// TestNothingIsCommittedOnAFormerPrimary has the standby promoted while a
// transaction is open on the old primary, which does not know.
func TestNothingIsCommittedOnAFormerPrimary(t *testing.T) {
	cluster := newCluster(t, 1)
	h := open(t, cluster, "pgryw.probe=20ms")
	old, next := cluster.Primary(), cluster.Standby(0)
	tx, err := h.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t.Context(), t, tx, put("on the old one"))
	if err := next.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if n := h.stats(t).Nodes[1]; n.Role != router.RolePrimary {
			return errors.New("the new primary has not been found")
		}
		return nil
	})
	mark := cluster.Mark()
	if err := tx.Commit(); !errors.Is(err, sqldriver.ErrBadConn) {
		t.Errorf("got %v, want ErrBadConn", err)
	}
	statements, err := old.Statements(mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if s.SQL == "commit" {
			t.Error("the commit was sent")
		}
	}
	h.wantNothingBorrowed(t)
}
