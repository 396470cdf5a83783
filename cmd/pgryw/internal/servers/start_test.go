package servers_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/cmd/pgryw/internal/servers"
)

// start starts a primary and two standbys, and checks at the end of the test
// that they are gone.
func start(t *testing.T, o servers.Options) *servers.Cluster {
	t.Helper()
	o.Standbys = 2
	c, err := servers.Start(t.Context(), o)
	if errors.Is(err, servers.ErrAbsent) && o.Source == servers.Local && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for i := range 3 {
			if conn, err := pgx.Connect(context.Background(), c.NodeDSN(i)); err == nil {
				t.Errorf("server %d still answers: %v", i, conn.Close(context.Background()))
			}
		}
	})
	return c
}

// connect connects to a server.
func connect(t *testing.T, c *servers.Cluster, node int) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.NodeDSN(node))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone
	return conn
}

// ask returns the one value that sql selects.
func ask[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var value T
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// check checks that the cluster is a primary with two standbys of its own that
// are late.
func check(t *testing.T, c *servers.Cluster, delay time.Duration) {
	t.Helper()
	if got, want := c.Standbys(), 2; got != want {
		t.Fatalf("got %d standbys, want %d", got, want)
	}
	conns := []*pgx.Conn{connect(t, c, 0), connect(t, c, 1), connect(t, c, 2)}
	for i, conn := range conns {
		if got, want := ask[bool](t, conn, "SELECT pg_is_in_recovery()"), i > 0; got != want {
			t.Errorf("server %d: got in recovery %t, want %t", i, got, want)
		}
		const system = "SELECT system_identifier::text FROM pg_control_system()"
		if got, want := ask[string](t, conn, system), ask[string](t, conns[0], system); got != want {
			t.Errorf("server %d: got system %s, want the primary's, %s", i, got, want)
		}
	}
	written := time.Now()
	if _, err := conns[0].Exec(t.Context(), "CREATE TABLE late ()"); err != nil {
		t.Fatal(err)
	}
	for _, standby := range conns[1:] {
		for !ask[bool](t, standby, "SELECT to_regclass('late') IS NOT NULL") {
			if time.Since(written) > 20*time.Second {
				t.Fatal("a standby does not replay")
			}
		}
	}
	if late := time.Since(written); late < delay {
		t.Errorf("both standbys replayed after %s, want %s at least", late, delay)
	}
}

func TestLocalServersAreAPrimaryAndLateStandbys(t *testing.T) {
	c := start(t, servers.Options{Source: servers.Local, ApplyDelay: 200 * time.Millisecond, MaxConnections: 133})
	check(t, c, 200*time.Millisecond)
	if got, want := ask[string](t, connect(t, c, 2), "SHOW max_connections"), "133"; got != want {
		t.Errorf("got max_connections %s, want %s", got, want)
	}
	if !strings.HasPrefix(c.About, "PostgreSQL ") || !strings.HasSuffix(c.About, ", installed here") {
		t.Errorf("got %q, want it to say where the servers come from", c.About)
	}
}

func TestAPortThatIsTakenIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	for _, first := range []int{taken, taken - 2} {
		_, err = servers.Start(t.Context(), servers.Options{Port: first, Standbys: 2})
		if want := "is taken on 127.0.0.1"; !errors.Is(err, servers.ErrPortTaken) || !strings.Contains(err.Error(), want) {
			t.Errorf("first port %d, taken %d: got error %v, want %q", first, taken, err, want)
		}
	}
}
