package conn_test

import (
	sqldriver "database/sql/driver"
	"fmt"
	"testing"

	"github.com/pgryw/pgryw/conn"
)

// driverConn is a connection as database/sql has it. Its methods fail the test on
// any error.
type driverConn struct {
	*conn.Conn
	t *testing.T
}

// driverConn returns a connection of the handle's connector. The caller closes
// it.
func (h *handle) driverConn(t *testing.T) driverConn {
	t.Helper()
	c, err := h.connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return driverConn{c.(*conn.Conn), t}
}

func (c driverConn) begin(readOnly bool) sqldriver.Tx {
	c.t.Helper()
	tx, err := c.BeginTx(c.t.Context(), sqldriver.TxOptions{ReadOnly: readOnly})
	if err != nil {
		c.t.Fatal(err)
	}
	return tx
}

func (c driverConn) exec(text string, args ...any) {
	c.t.Helper()
	if _, err := c.ExecContext(c.t.Context(), text, named(args)); err != nil {
		c.t.Fatal(err)
	}
}

func (c driverConn) query(text string, args ...any) sqldriver.Rows {
	c.t.Helper()
	rows, err := c.QueryContext(c.t.Context(), text, named(args))
	if err != nil {
		c.t.Fatal(err)
	}
	return rows
}

func named(args []any) []sqldriver.NamedValue {
	values := make([]sqldriver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = sqldriver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// wantNothingBorrowed fails the test unless all server connections are back in
// their pools, soon.
func (h *handle) wantNothingBorrowed(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		for _, n := range h.stats(t).Nodes {
			if n.Pool.Acquired != 0 {
				return fmt.Errorf("%d connections of %s are borrowed", n.Pool.Acquired, n.Label)
			}
		}
		return nil
	})
}
