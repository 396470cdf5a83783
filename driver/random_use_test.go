package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
)

// TestRandomUseUnderFaultsMissesNoWrite has users write and read in all ways, in
// any order, with and without sessions and on held connections, while backends
// are ended at random and one standby is late: a read that succeeds shows at least
// the last write that was acknowledged.
func TestRandomUseUnderFaultsMissesNoWrite(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 2, Setup: pathSetup})
	if err := c.Standby(1).SetDelay(t.Context(), 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("PGRYW_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("PGRYW_SEED=%d", seed)
	for _, options := range []string{"", "pgryw.scope=conn", "pgryw.pool_max_conns=3", "default_query_exec_mode=simple_protocol"} {
		t.Run(options, func(t *testing.T) {
			db, routes := open(t, c.DSN(), options)
			db.SetMaxOpenConns(8)
			db.SetMaxIdleConns(2)
			db.SetConnMaxLifetime(100 * time.Millisecond) // which ends what Raw has pinned
			ctx, stop := context.WithCancel(t.Context())
			var work sync.WaitGroup
			work.Go(func() { endBackends(ctx, t, c, rand.New(rand.NewPCG(seed, 0))) })
			var users sync.WaitGroup
			for i := range 6 {
				u := &user{t: t, db: db, id: fmt.Sprint("random", options, i), rand: rand.New(rand.NewPCG(seed, uint64(i+1)))}
				u.session = lsn.NewSession(t.Context()) //nolint:fatcontext // each derives from the test's own context
				u.signs = options == "pgryw.scope=conn" // where a read is not fenced by another connection
				users.Go(func() { u.use(max(rounds()/10, 20)) })
			}
			users.Wait()
			stop()
			work.Wait()
			t.Logf("%d calls on replicas, %d on the primary", routes.to[true], routes.to[false])
		})
	}
}

// endBackends ends client backends of the servers, one every few milliseconds.
func endBackends(ctx context.Context, t *testing.T, c *pgcluster.Cluster, r *rand.Rand) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		node := c.Nodes()[r.IntN(2)]
		err := node.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND application_name = '' ORDER BY random() LIMIT 1`)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}
}

// user counts up and reads back, in random ways.
type user struct {
	t    *testing.T
	db   *sql.DB
	id   string
	rand *rand.Rand

	session context.Context // one for all that the user does with one
	signs   bool            // the user does nothing without

	acked, tried int64
}

// runner is a *sql.DB, *sql.Conn or *sql.Tx.
type runner interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (u *user) use(rounds int) {
	if err := u.retry(func() error {
		return done(u.db.ExecContext(u.t.Context(), `INSERT INTO counter VALUES ($1, 0) ON CONFLICT DO NOTHING`, u.id))
	}); err != nil {
		u.t.Error(err)
		return
	}
	for range rounds {
		ctx := u.session
		if !u.signs && u.rand.IntN(2) == 0 {
			ctx = u.t.Context()
		}
		if err := u.round(ctx); err != nil && !excused(err) {
			u.t.Errorf("%s: %v", u.id, err)
			return
		}
	}
}

// retry calls f until it succeeds, or fails in a way that no ended backend
// explains.
func (u *user) retry(f func() error) error {
	for {
		if err := f(); err == nil || !excused(err) {
			return err
		}
	}
}

// excused reports whether an ended backend explains an error.
func excused(err error) bool {
	var stale *staleError
	return !errors.As(err, &stale)
}

// staleError is what must not be.
type staleError struct{ got, acked, tried int64 }

func (e *staleError) Error() string {
	return fmt.Sprintf("read %d, but %d was acknowledged and %d the last tried", e.got, e.acked, e.tried)
}

func (u *user) round(ctx context.Context) error {
	switch u.rand.IntN(3) {
	case 0:
		return u.steps(ctx, u.db)
	default:
		held, err := u.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer held.Close()
		return u.steps(ctx, held)
	}
}

// steps writes and reads a few times.
func (u *user) steps(ctx context.Context, on runner) error {
	for range 1 + u.rand.IntN(6) {
		if u.rand.IntN(20) == 0 {
			if err := u.write(ctx, on); err != nil {
				return err
			}
		}
		if err := u.read(ctx, on); err != nil {
			return err
		}
	}
	return nil
}

func (u *user) write(ctx context.Context, on runner) error {
	u.tried++
	n := u.tried
	err := u.writeBy(ctx, on, n)
	if err == nil {
		u.acked = n
	}
	return err
}

func (u *user) writeBy(ctx context.Context, on runner, n int64) error {
	text := fmt.Sprintf(`UPDATE counter SET n = %d WHERE id = '%s'`, n, u.id)
	switch u.rand.IntN(6) {
	case 0:
		return done(on.ExecContext(ctx, text))
	case 1:
		return drained(on.QueryContext(ctx, update+` RETURNING n`, u.id, n))
	case 2:
		return drained(on.QueryContext(ctx, `SELECT set_counter($1, $2)`, u.id, n))
	case 3:
		tx, err := u.begin(ctx, on, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if err := done(tx.ExecContext(ctx, update, u.id, n)); err != nil {
			return err
		}
		return tx.Commit()
	case 4:
		if held, ok := on.(*sql.Conn); ok {
			return held.Raw(func(driverConn any) error {
				p, err := driver.Unwrap(ctx, driverConn)
				if err != nil {
					return err
				}
				_, err = p.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
				return err
			})
		}
	}
	return done(on.ExecContext(ctx, update, u.id, n))
}

func (u *user) read(ctx context.Context, on runner) error {
	acked := u.acked
	n, err := u.readBy(ctx, on)
	if err == nil && (n < acked || n > u.tried) {
		return &staleError{n, acked, u.tried}
	}
	return err
}

func (u *user) readBy(ctx context.Context, on runner) (n int64, err error) {
	switch u.rand.IntN(4) {
	case 0:
		err = on.QueryRowContext(ctx, `SELECT n FROM counter WHERE id = '`+u.id+`'`).Scan(&n)
		return n, err
	case 1:
		tx, err := u.begin(ctx, on, readOnly)
		if err != nil {
			return 0, err
		}
		defer func() { _ = tx.Rollback() }()
		if n, err = get(ctx, tx, u.id); err != nil {
			return 0, err
		}
		return n, tx.Commit()
	}
	return get(ctx, on, u.id)
}

func (u *user) begin(ctx context.Context, on runner, opts *sql.TxOptions) (*sql.Tx, error) {
	return on.(interface {
		BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
	}).BeginTx(ctx, opts)
}
