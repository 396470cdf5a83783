package driver_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
)

// TestFencesDisturbWhomTheyShould runs DESIGN's table: for each writer and each
// reader, whether the reader has to leave a replica that has stopped replaying.
// A read that need not must be served by the replica, with the old value.
func TestFencesDisturbWhomTheyShould(t *testing.T) {
	c := startCluster(t, 1)
	for _, scope := range []string{"db", "conn"} {
		t.Run("scope "+scope, func(t *testing.T) { testFences(t, c, scope) })
	}
}

func testFences(t *testing.T, c *pgcluster.Cluster, scope string) {
	t.Helper()
	background := t.Context()
	a, b := lsn.NewSession(background), lsn.NewSession(background)
	for _, tt := range []struct {
		writer string
		write  context.Context
		// who must see the write, by scope; the others are left alone.
		sees map[string][]string
	}{
		{"no session", background, map[string][]string{
			"db":   {"no session", "session a", "session b", "the writer's connection", "session a on the writer's connection"},
			"conn": {"session a", "session b", "the writer's connection", "session a on the writer's connection"},
		}},
		{"session a", a, map[string][]string{
			"db":   {"no session", "session a", "the writer's connection", "session a on the writer's connection"},
			"conn": {"session a", "the writer's connection", "session a on the writer's connection"},
		}},
		{"session b", b, map[string][]string{
			"db":   {"no session", "session b", "the writer's connection", "session a on the writer's connection"},
			"conn": {"session b", "the writer's connection", "session a on the writer's connection"},
		}},
	} {
		t.Run("written by "+tt.writer, func(t *testing.T) {
			id := t.Name()
			seed(t, c, id)
			db, routes := open(t, c.DSN(), "pgryw.scope="+scope)
			writer, held := conn(t, db), conn(t, db)
			if _, err := get(background, held, id); err != nil {
				t.Fatal(err)
			}
			if err := c.Standby(0).PauseReplay(background); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Standby(0).ResumeReplay(context.WithoutCancel(background)); err != nil {
					t.Error(err)
				}
			}()
			if _, err := writer.ExecContext(tt.write, `UPDATE counter SET n = 1 WHERE id = $1`, id); err != nil {
				t.Fatal(err)
			}
			must := map[string]bool{}
			for _, name := range tt.sees[scope] {
				must[name] = true
			}
			for _, r := range []struct {
				name string
				ctx  context.Context
				on   querier
			}{
				{"no session", background, db},
				{"session a", a, db},
				{"session b", b, db},
				{"the writer's connection", background, writer},
				{"session a on the writer's connection", a, writer},
				{"a connection held since before", background, held},
			} {
				n, err := get(r.ctx, r.on, id)
				if err != nil {
					t.Fatalf("%s: %v", r.name, err)
				}
				d := routes.Last()
				switch {
				case must[r.name] && (n != 1 || d.Replica()):
					t.Errorf("%s: got n=%d from %s (%s), want 1 from the primary", r.name, n, d.Label, d.Reason)
				case !must[r.name] && (n != 0 || !d.Replica()):
					t.Errorf("%s: got n=%d from %s (%s), want to be left on the replica", r.name, n, d.Label, d.Reason)
				}
			}
		})
	}
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func get(ctx context.Context, q querier, id string) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT n FROM counter WHERE id = $1`, id).Scan(&n)
	return n, err
}

func conn(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
