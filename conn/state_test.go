package conn_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// pinned returns how many connections session state keeps on the primary.
func (h *handle) pinned(t *testing.T) int {
	t.Helper()
	return h.stats(t).PinnedCount
}

// TestLostSessionStateIsNotMissedByAReplica loses the connection that a
// checkout's settings, or its transaction, are on. What follows must fail: on
// any other connection, a replica's too, it would run without them.
func TestLostSessionStateIsNotMissedByAReplica(t *testing.T) {
	cluster := start(t)
	for name, text := range map[string]string{"a setting": "SET application_name = 'mine'", "a transaction": "BEGIN"} {
		h := open(t, cluster, "")
		c := h.checkOut(t)
		exec(t.Context(), t, c, text)
		var pid int
		if err := c.QueryRowContext(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Primary().Exec(t.Context(), fmt.Sprintf(`SELECT pg_terminate_backend(%d, 20000)`, pid)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ExecContext(t.Context(), "SET application_name = 'yours'"); err == nil {
			t.Fatalf("%s: the connection is not lost", name)
		}
		for what, f := range map[string]func() error{
			"Query":   func() error { return c.QueryRowContext(t.Context(), `SELECT a FROM wide`).Scan(&pid) },
			"Prepare": func() error { _, err := c.PrepareContext(t.Context(), `SELECT a FROM wide`); return err },
			"BeginTx": func() error { _, err := c.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}); return err },
		} {
			if err := f(); !errors.Is(err, sqldriver.ErrBadConn) && !errors.Is(err, sql.ErrConnDone) {
				t.Errorf("%s: %s behind it: got %v from %s, want ErrBadConn", name, what, err, h.route().Label)
			}
		}
	}
}

// TestALostConnectionIsNoConnectionAnyMore counts the connections that are left
// when some were lost and all are closed.
func TestALostConnectionIsNoConnectionAnyMore(t *testing.T) {
	h := open(t, start(t), "")
	for range 3 {
		c := h.checkOut(t)
		exec(t.Context(), t, c, "SET application_name = 'mine'")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := c.ExecContext(ctx, "SELECT pg_sleep(60)")
		cancel()
		if err == nil {
			t.Fatal("the statement was not canceled")
		}
		_ = c.Close()
	}
	h.SetMaxIdleConns(-1)
	if n := h.stats(t).ConnCount; n != 0 {
		t.Errorf("got %d connections, want 0", n)
	}
}

// TestStateThatAnErrorOrARollbackLeavesStaysPinned ends session state in ways
// that do not end it.
func TestStateThatAnErrorOrARollbackLeavesStaysPinned(t *testing.T) {
	h := open(t, start(t), "")
	for texts, pinned := range map[string]int{
		"SET application_name = 'mine'; RESET ALL":                                                                      0,
		"SET application_name = 'mine'; BEGIN; RESET ALL; ROLLBACK":                                                     1,
		"LISTEN mine; BEGIN; UNLISTEN *; ROLLBACK":                                                                      1,
		"CREATE TEMP TABLE mine (); BEGIN; DISCARD TEMP; ROLLBACK":                                                      1,
		"SET application_name = 'mine'; BEGIN; RESET ALL; COMMIT; RESET ALL":                                            0,
		"SELECT pg_advisory_lock(7), 1 / (SELECT count(*) - 1 FROM wide)":                                               1,
		"SELECT pg_advisory_lock(7), 1 / (SELECT count(*) - 1 FROM wide); DISCARD ALL":                                  0,
		"SELECT set_config('a.b', 'mine', false), 1 / (SELECT count(*) - 1 FROM wide)":                                  0,
		"PREPARE mine AS SELECT pg_advisory_lock(8), 1 / (SELECT count(*) - 1 FROM wide); EXECUTE mine; DEALLOCATE ALL": 1,
	} {
		c := h.checkOut(t)
		for text := range strings.SplitSeq(texts, "; ") {
			if _, err := c.ExecContext(t.Context(), text); err != nil && !strings.Contains(err.Error(), "division by zero") {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if n := h.pinned(t); n != pinned {
			t.Errorf("%s: got %d pinned connections, want %d", texts, n, pinned)
		}
		exec(t.Context(), t, c, "DISCARD ALL")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
