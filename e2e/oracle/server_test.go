package oracle

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// schema has the tables that the described statements read.
const schema = `
	CREATE TABLE t (id int, a int, b int, c int, d int, x int, n int, name text, "for" text, "a b" text);
	CREATE TABLE u (LIKE t); CREATE TABLE a (LIKE t); CREATE TABLE b (LIKE t); CREATE TABLE c (LIKE t);
	CREATE TABLE users (id int, name text, deleted_at timestamptz);
	CREATE TABLE job (id int, a int); INSERT INTO t SELECT n FROM generate_series(1, 3) n;`

func dial(t *testing.T, node *pgcluster.Node) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), node.DSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// code returns the SQLSTATE of an error, or "" of none.
func code(t *testing.T, err error) string {
	t.Helper()
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused == nil {
		return ""
	}
	return refused.Code
}

func TestAReadWritesNothingAndRunsOnAStandby(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: schema})
	primary, standby := dial(t, cluster.Primary()), dial(t, cluster.Standby(0))
	const left = `SELECT pg_current_xact_id_if_assigned()::text, (SELECT count(*) FROM pg_locks
		WHERE pid = pg_backend_pid() AND locktype = 'advisory')::text`
	ranCount := 0
	for _, sql := range described(t) {
		if router.Classify(sql).Class != router.ClassRead {
			continue
		}
		_, err := standby.Exec(ctx, sql).ReadAll()
		switch why := code(t, err); why {
		case "":
			ranCount++
		case "25006", "55000", "0A000", "XX000":
			t.Errorf("%q: got %v from the standby", sql, err)
			continue
		default: // it has parameters, or names what is not there
			continue
		}
		results, err := primary.Exec(ctx, "BEGIN;"+sql+"\n;"+left+";ROLLBACK").ReadAll()
		if err != nil {
			t.Errorf("%q: %v", sql, err)
			continue
		}
		row := results[len(results)-2].Rows[0]
		if row[0] != nil || string(row[1]) != "0" {
			t.Errorf("%q: got transaction id %q and %s advisory locks, want none", sql, row[0], row[1])
		}
	}
	if ranCount < 60 {
		t.Errorf("got %d reads that ran, want 60 or more", ranCount)
	}
}

// query returns the rows of a query of one column of text, or of several.
func query[T any](t *testing.T, node *pgcluster.Node, sql string) []T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), node.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAVolatileFunctionOfTheServerIsAReadOnlyIfItHasNoEffect(t *testing.T) {
	t.Parallel()
	harmless := []string{
		"array_sample", "array_shuffle", "clock_timestamp", "currtid2", "gen_random_uuid", "pg_partition_ancestors",
		"pg_partition_tree", "pg_sleep", "pg_sleep_for", "pg_sleep_until", "random", "random_normal", "timeofday", "uuidv4", "uuidv7",
		"amvalidate", "plpgsql_validator",
	}
	cluster := pgcluster.New(t, pgcluster.Options{})
	volatile := query[struct{ Name string }](t, cluster.Primary(), `
		SELECT DISTINCT proname::text FROM pg_proc WHERE provolatile = 'v' AND pronamespace = 'pg_catalog'::regnamespace
		AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype, 'language_handler'::regtype,
			'index_am_handler'::regtype, 'tsm_handler'::regtype, 'table_am_handler'::regtype)
		AND NOT 'internal'::regtype = ANY (proargtypes)`)
	if len(volatile) < 100 {
		t.Fatalf("got %d volatile functions, want 100 or more", len(volatile))
	}
	for _, f := range volatile {
		s := router.Classify("SELECT " + quote([]string{f.Name}) + "()")
		if s.Class == router.ClassRead && !slices.Contains(harmless, f.Name) {
			t.Errorf("%s is volatile, and a read", f.Name)
		}
	}
}

func TestAViewOfTheServerIsAReadOnlyIfItsDefinitionIs(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.New(t, pgcluster.Options{})
	// Temporary schemas are their session's, and a replica's has none.
	temporary := []string{"pg_is_other_temp_schema", "pg_my_temp_schema"}
	helpers := query[router.Function](t, cluster.Primary(), `SELECT 'information_schema', proname::text, ascii(provolatile::text)::int2
		FROM pg_proc WHERE pronamespace = 'information_schema'::regnamespace`)
	env := &router.Env{Functions: router.NewCatalog(helpers), Strings: router.StringsStandard}
	views := query[struct{ Schema, Name, Definition string }](t, cluster.Primary(), `
		SELECT relnamespace::regnamespace::text, relname::text, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v'`)
	if len(views) < 100 {
		t.Fatalf("got %d views, want 100 or more", len(views))
	}
	for _, v := range views {
		if router.Classify("TABLE "+quote([]string{v.Schema, v.Name}), env).Class != router.ClassRead {
			continue
		}
		for _, call := range router.Functions(v.Definition, env) {
			if call.Effect != "reads" && !slices.Contains(temporary, call.Name) {
				t.Errorf("%s.%s is a read, and calls %s, which %s", v.Schema, v.Name, call.Name, call.Effect)
			}
		}
	}
}
