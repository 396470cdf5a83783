package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/lsn"
)

// bareConn is a trial wrapper that passes on what statements need and hides the
// brackets of a checkout: no SessionResetter, no Validator.
type bareConn struct{ c sqldriver.Conn }

func (b bareConn) Prepare(query string) (sqldriver.Stmt, error) { return b.c.Prepare(query) }
func (b bareConn) Close() error                                 { return b.c.Close() }
func (b bareConn) Begin() (sqldriver.Tx, error)                 { return nil, fmt.Errorf("not used") }

func (b bareConn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	return b.c.(sqldriver.ConnBeginTx).BeginTx(ctx, opts)
}

func (b bareConn) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	return b.c.(sqldriver.ExecerContext).ExecContext(ctx, query, args)
}

func (b bareConn) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return b.c.(sqldriver.QueryerContext).QueryContext(ctx, query, args)
}

func (b bareConn) CheckNamedValue(v *sqldriver.NamedValue) error {
	return b.c.(sqldriver.NamedValueChecker).CheckNamedValue(v)
}

// bareConnector wraps a connector's connections, and hides that it can be
// closed.
type bareConnector struct{ sqldriver.Connector }

func (b bareConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return bareConn{c}, nil
}

// bareDriver wraps a driver that it takes for one without connectors.
type bareDriver struct{ d sqldriver.Driver }

func (b bareDriver) Open(name string) (sqldriver.Conn, error) {
	c, err := b.d.Open(name)
	if err != nil {
		return nil, err
	}
	return bareConn{c}, nil
}

var registerBare = sync.OnceFunc(func() { sql.Register("bare-pgryw", bareDriver{&driver.Driver{}}) })

// TestWrappersThatHideTheBracketsSeeTheirWrites writes and reads from many
// goroutines through wrappers under which no checkout is seen to begin or end.
func TestWrappersThatHideTheBracketsSeeTheirWrites(t *testing.T) {
	c := startCluster(t, 1)
	registerBare()
	connector := func(t *testing.T) *sql.DB {
		t.Helper()
		cfg, err := driver.ParseDSN(c.DSN())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := driver.NewConnector(*cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = inner.Close() })
		return sql.OpenDB(bareConnector{inner})
	}
	byName := func(t *testing.T) *sql.DB {
		t.Helper()
		db, err := sql.Open("bare-pgryw", c.DSN())
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	for name, open := range map[string]func(*testing.T) *sql.DB{"connector": connector, "driver": byName} {
		t.Run(name, func(t *testing.T) {
			seed(t, c, name)
			db := open(t)
			defer db.Close()
			db.SetMaxIdleConns(8)
			if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Standby(0).ResumeReplay(context.WithoutCancel(t.Context())) }()
			var users sync.WaitGroup
			for user := range 8 {
				id := fmt.Sprint(name, user)
				users.Go(func() { writeAndReadBack(t, db, id, 50) })
			}
			users.Wait()
		})
	}
}

// writeAndReadBack counts up, with a session every other time, and reads back on
// whatever connection the pool gives.
func writeAndReadBack(t *testing.T, db *sql.DB, id string, rounds int) {
	t.Helper()
	for n := 1; n <= rounds; n++ {
		ctx := t.Context()
		if n%2 == 0 {
			ctx = lsn.NewSession(ctx)
		}
		_, err := db.ExecContext(ctx, `INSERT INTO counter VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = excluded.n`, id, n)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			return
		}
		if got, err := get(ctx, db, id); err != nil || got != int64(n) {
			t.Errorf("%s: got %d, %v, want %d", id, got, err, n)
			return
		}
	}
}

// TestAWrapperWithoutCheckInHoldsNoPrimaryConnection reads and writes through a
// wrapper that does not pass the end of a checkout on, and counts the server
// connections that its idle connections keep.
func TestAWrapperWithoutCheckInHoldsNoPrimaryConnection(t *testing.T) {
	c := startCluster(t, 1)
	cfg, err := driver.ParseDSN(c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	connector, err := driver.NewConnector(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(bareConnector{connector})
	defer func() { _ = connector.Close() }()
	defer db.Close()
	held := []*sql.Conn{conn(t, db), conn(t, db), conn(t, db)}
	for i, h := range held {
		if _, err := h.ExecContext(t.Context(), `INSERT INTO counter VALUES ($1, 0)`, fmt.Sprint("held", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range connector.Stats().Nodes {
		if n.Pool.Acquired != 0 {
			t.Errorf("%s: got %d connections in use, want 0", n.Label, n.Pool.Acquired)
		}
	}
	if _, err := held[0].ExecContext(t.Context(), `SET application_name = 'pinned'`); err != nil {
		t.Fatal(err)
	}
	acquired := int32(0)
	for _, n := range connector.Stats().Nodes {
		acquired += n.Pool.Acquired
	}
	if acquired != 1 {
		t.Errorf("with session state on one: got %d connections in use, want 1", acquired)
	}
}

// TestConnectionsOfOneDSNShareTheirServers opens connections by Driver.Open.
func TestConnectionsOfOneDSNShareTheirServers(t *testing.T) {
	c := startCluster(t, 0)
	d := &driver.Driver{}
	var conns []sqldriver.Conn
	for range 3 {
		conn, err := d.Open(c.DSN())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		if err := conn.(sqldriver.Pinger).Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
	}
	again, err := d.Open(c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.(sqldriver.Pinger).Ping(t.Context()); err != nil {
		t.Errorf("after the last one was closed: %v", err)
	}
}
