package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
)

// atOnce bounds the closing of a handle that nobody makes wait.
const atOnce = 2 * time.Second

// leaves are what a program may not have ended when it closes its handle. Each
// is under way when its function returns; what it sends on ended is the end of
// the call that ran.
var leaves = []struct {
	name  string
	leave func(ctx context.Context, db *sql.DB, ended chan<- error) error
	runs  string // what the servers say of a call that runs
}{
	{"nothing", func(ctx context.Context, db *sql.DB, _ chan<- error) error { return db.PingContext(ctx) }, ""},
	{"rows of a replica", leaveRows(`SELECT i FROM generate_series(1, 1000000) i`), ""},
	{"rows of the primary", leaveRows(`SELECT i FROM generate_series(1, 1000000) i WHERE pg_backend_pid() > 0`), ""},
	{"rows of a write", leaveRows(`UPDATE counter SET n = n FROM generate_series(1, 10) i RETURNING i`), ""},
	{"a transaction", leaveTx(nil), ""},
	{"a read-only transaction", leaveTx(readOnly), ""},
	{"session state", func(ctx context.Context, db *sql.DB, _ chan<- error) error {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		return done(c.ExecContext(ctx, `LISTEN news`))
	}, ""},
	{"a read that runs", leaveRunning(func(ctx context.Context, db *sql.DB) error {
		return drained(db.QueryContext(ctx, `SELECT 1 FROM pg_sleep(60)`))
	}), "wait_event = 'PgSleep'"},
	{"a write that runs", leaveRunning(func(ctx context.Context, db *sql.DB) error {
		return done(db.ExecContext(ctx, `UPDATE counter SET n = n FROM pg_sleep(60)`))
	}), "wait_event = 'PgSleep'"},
	{"a callback that waits", leaveRunning(func(ctx context.Context, db *sql.DB) error {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		return c.Raw(func(driverConn any) error {
			p, err := driver.Unwrap(ctx, driverConn)
			if err != nil {
				return err
			}
			if _, err := p.Exec(ctx, `LISTEN news`); err != nil {
				return err
			}
			_, err = p.WaitForNotification(ctx)
			return err
		})
	}), "query = 'LISTEN news' AND state = 'idle'"},
}

func leaveRows(text string) func(context.Context, *sql.DB, chan<- error) error {
	return func(ctx context.Context, db *sql.DB, _ chan<- error) error {
		rows, err := db.QueryContext(ctx, text) // that is what the test is for
		if err != nil {
			return err
		}
		rows.Next()
		return nil
	}
}

func leaveTx(opts *sql.TxOptions) func(context.Context, *sql.DB, chan<- error) error {
	return func(ctx context.Context, db *sql.DB, _ chan<- error) error {
		tx, err := db.BeginTx(ctx, opts)
		if err != nil {
			return err
		}
		_, err = get(ctx, tx, "calm")
		return err
	}
}

func leaveRunning(call func(context.Context, *sql.DB) error) func(context.Context, *sql.DB, chan<- error) error {
	return func(ctx context.Context, db *sql.DB, ended chan<- error) error {
		go func() { ended <- call(ctx, db) }()
		return nil
	}
}

// TestCloseEndsEverythingAtOnce closes handles under whatever their users have
// not ended: no goroutine is left, and no server process. It does not run
// beside other tests, whose goroutines it would count.
func TestCloseEndsEverythingAtOnce(t *testing.T) {
	c := startCalm(t)
	for i, tt := range leaves {
		t.Run(tt.name, func(t *testing.T) {
			name := fmt.Sprint("closed", i)
			// A server that computes learns that its client is gone only if told to look.
			cfg := parse(t, c.DSN()+"&client_connection_check_interval=50ms&application_name="+name)
			connector, err := driver.NewConnector(cfg)
			if err != nil {
				t.Fatal(err)
			}
			db := sql.OpenDB(connector)
			waitForRoles(t, db)
			ended := make(chan error, 1)
			if err := tt.leave(t.Context(), db, ended); err != nil {
				t.Fatal(err)
			}
			if tt.runs != "" {
				waitForBackends(t, c, fmt.Sprintf("application_name = '%s' AND %s", name, tt.runs), 1)
			}
			start := time.Now()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > atOnce {
				t.Errorf("Close took %s", took)
			}
			if tt.runs != "" {
				if err := inTime(t, "the call that ran", func() error { return <-ended }); err == nil {
					t.Error("the call that ran is a success")
				}
			}
			waitForBackends(t, c, fmt.Sprintf("application_name = '%s'", name), 0)
			eventually(t, "no goroutine is left", func() error {
				if left := goroutines(); len(left) > 0 {
					return fmt.Errorf("%d are left, the first is\n%s", len(left), left[0])
				}
				return nil
			})
			if err := db.PingContext(t.Context()); err == nil {
				t.Error("the closed handle answers")
			}
		})
	}
}

// waitForBackends waits until the servers together have so many processes for
// which a condition holds.
func waitForBackends(t *testing.T, c *pgcluster.Cluster, where string, want int) {
	t.Helper()
	counts := make([]func() int, 0, len(c.Nodes()))
	for _, node := range c.Nodes() {
		counts = append(counts, counter(t, node, `SELECT count(*) FROM pg_stat_activity WHERE `+where))
	}
	eventually(t, "processes where "+where, func() error {
		got := 0
		for _, count := range counts {
			got += count()
		}
		if got != want {
			return fmt.Errorf("got %d, want %d", got, want)
		}
		return nil
	})
}

// TestCloseDoesNotWaitForAServerThatDoesNotAnswer freezes a standby and the
// primary under a handle that is used.
func TestCloseDoesNotWaitForAServerThatDoesNotAnswer(t *testing.T) {
	c := startCluster(t, 1)
	seed(t, c, "x")
	db := openOnly(t, parse(t, c.DSN()))
	waitForRoles(t, db)
	if _, err := get(t.Context(), db, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), update, "x", 1); err != nil {
		t.Fatal(err)
	}
	for _, node := range c.Nodes() {
		if err := node.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	result := make(chan error, 1)
	go func() { result <- done(db.ExecContext(t.Context(), update, "x", 2)) }()
	start := time.Now()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > atOnce {
		t.Errorf("Close took %s", took)
	}
	if err := inTime(t, "the write", func() error { return <-result }); err == nil {
		t.Error("the write is a success")
	}
	eventually(t, "no goroutine is left", func() error {
		if left := goroutines(); len(left) > 0 {
			return fmt.Errorf("%d are left, the first is\n%s", len(left), left[0])
		}
		return nil
	})
	if err := errors.Join(c.Primary().Thaw(t.Context()), c.Standby(0).Thaw(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestACloseUnderLoadLetsNothingHang closes a handle under users who write and
// read all the time: each has an error soon.
func TestACloseUnderLoadLetsNothingHang(t *testing.T) {
	c := startCalm(t)
	for range 5 {
		db, _ := open(t, c.DSN(), "application_name=loaded")
		ended := make(chan error, 8)
		for range cap(ended) {
			go func() {
				var err error
				for err == nil {
					_, err = get(t.Context(), db, "calm")
					err = errors.Join(err, done(db.ExecContext(t.Context(), write)))
				}
				ended <- err
			}()
		}
		eventually(t, "the handle is used", func() error {
			if n := db.Stats().OpenConnections; n < 4 {
				return fmt.Errorf("%d connections", n)
			}
			return nil
		})
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for range cap(ended) {
			if err := inTime(t, "a user", func() error { return <-ended }); err == nil {
				t.Error("a user has no error")
			}
		}
		waitForBackends(t, c, "application_name = 'loaded'", 0)
	}
}
