package pgcluster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanVariable); dir != "" {
		runUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// startIn starts a cluster with its folder in a place of its own, which must be
// empty again after the test.
func startIn(t *testing.T, options pgcluster.Options) *pgcluster.Cluster {
	t.Helper()
	options.Dir = emptyAfterTest(t)
	return pgcluster.New(t, options)
}

// emptyAfterTest makes a folder that everybody can write, in memory where there
// is room, and checks at the end of the test that nothing was left in it.
func emptyAfterTest(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "pgcluster-test-") //nolint:usetesting // others cannot reach t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // the servers run as another user
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			left, _ := filepath.Glob(filepath.Join(dir, "*"))
			t.Errorf("left behind: %v", left)
		}
	})
	return dir
}

// within returns a context for what must not answer.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// connect opens a connection and closes it at the end of the test.
func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // it may be broken
	return conn
}

// ask returns the one value that sql selects on the node, as text.
func ask(t *testing.T, n *pgcluster.Node, sql string) string {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), n.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range results[0].Rows {
		text.Write(row[0])
	}
	return text.String()
}

// do fails the test if a fault failed.
func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
