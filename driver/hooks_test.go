package driver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// TestHooksAreCalledForEveryConnection counts the connections that the servers
// have authorized, those of the probes included, and the calls of the hooks.
func TestHooksAreCalledForEveryConnection(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: calmSetup, Settings: map[string]string{"log_connections": "on"}})
	mark := c.Mark()
	cfg := parse(t, c.DSN())
	var before, after atomic.Int64
	var ports sync.Map
	cfg.BeforeConnect = func(_ context.Context, cfg *pgx.ConnConfig) error {
		before.Add(1)
		ports.Store(int(cfg.Port), true)
		cfg.RuntimeParams["application_name"] = "hooked"
		return nil
	}
	cfg.AfterConnect = func(ctx context.Context, p *pgx.Conn) error {
		after.Add(1)
		_, err := p.Exec(ctx, `SET search_path = public, pg_catalog`)
		return err
	}
	db, _ := openConfig(t, cfg)
	for range 3 {
		held := conn(t, db)
		for _, q := range []querier{held, begin(t, held, readOnly)} {
			if _, err := get(t.Context(), q, "calm"); err != nil {
				t.Fatal(err)
			}
		}
		if got := show(t, conn(t, db), "search_path"); got != "public, pg_catalog" {
			t.Errorf("got search_path %s", got)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	authorized := 0
	for _, n := range c.Nodes() {
		text, err := n.Log(mark)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "connection authorized") && !strings.Contains(line, "pgcluster") {
				authorized++
				if !strings.Contains(line, "application_name=hooked") {
					t.Errorf("a connection that no hook has seen: %s", line)
				}
			}
		}
		if _, ok := ports.Load(n.Port()); !ok {
			t.Errorf("no hook was called for %s", n.Name())
		}
	}
	if b, a := before.Load(), after.Load(); int(b) != authorized || a != b || authorized < 4 {
		t.Errorf("got %d calls before and %d after %d connections", b, a, authorized)
	}
}

// TestAHooksErrorFailsItsConnection has the hooks of one server fail.
func TestAHooksErrorFailsItsConnection(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	errHook := errors.New("the hook has said no")
	for _, name := range []string{"before", "after"} {
		t.Run(name, func(t *testing.T) {
			cfg := parse(t, c.DSN(c.Primary(), c.Standby(0))+"&application_name=refused")
			bad := uint16(c.Primary().Port())
			if name == "before" {
				cfg.BeforeConnect = func(_ context.Context, cfg *pgx.ConnConfig) error {
					if cfg.Port == bad {
						return errHook
					}
					return nil
				}
			} else {
				cfg.AfterConnect = func(_ context.Context, p *pgx.Conn) error {
					if p.Config().Port == bad {
						return errHook
					}
					return nil
				}
			}
			db := openOnly(t, cfg)
			err := done(db.ExecContext(t.Context(), write))
			if err == nil || !strings.Contains(err.Error(), errHook.Error()) {
				t.Errorf("got %v, want the hook's error", err)
			}
			waitForBackends(t, c, fmt.Sprintf("application_name = 'refused' AND inet_server_port() = %d", bad), 0)
		})
	}
}

// recorder is a tracer that notes what pgx is asked to do.
type recorder struct {
	mu   sync.Mutex
	seen []string // guarded by mu
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, fmt.Sprint(d.SQL, " ", d.Args))
	return ctx
}

func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *recorder) statements() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// TestATracerSeesTheUsersStatementsOnly makes every kind of call with pgx and
// with pgryw, and compares what the tracer was told: nothing of ours, and
// nothing twice, changed or left out.
func TestATracerSeesTheUsersStatementsOnly(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	calls := func(db *sql.DB) {
		for _, k := range append(slices.Clone(writeKinds), readKinds...) {
			if err := k.call(t.Context(), db, "/* "+k.name+" */"); err != nil {
				t.Errorf("%s: %v", k.name, err)
			}
		}
	}
	ours := &recorder{}
	cfg := parse(t, c.DSN())
	cfg.Tracer = ours
	calls(openOnly(t, cfg))

	pgxs := &recorder{}
	pgxCfg, err := pgx.ParseConfig(c.Primary().DSN())
	if err != nil {
		t.Fatal(err)
	}
	pgxCfg.Tracer = pgxs
	plain := stdlib.OpenDB(*pgxCfg)
	defer plain.Close()
	calls(plain)

	got, want := ours.statements(), pgxs.statements()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) < len(readKinds)+len(writeKinds) {
		t.Errorf("pgx has told of %d statements", len(want))
	}
}
