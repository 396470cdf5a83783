package pgcluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

func TestStandbysHaveTheSetupOnceStarted(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 2, Setup: "CREATE TABLE t (i int); INSERT INTO t VALUES (7)"})
	if got, want := len(c.Nodes()), 3; got != want {
		t.Fatalf("got %d nodes, want %d", got, want)
	}
	for i := range 2 {
		if got := ask(t, c.Standby(i), "SELECT i FROM t WHERE pg_is_in_recovery()"); got != "7" {
			t.Errorf("standby %d: got %q, want 7 from a server in recovery", i, got)
		}
	}
	if got, want := ask(t, c.Primary(), "SELECT string_agg(application_name, ' ' ORDER BY application_name) FROM pg_stat_replication"), "node1 node2"; got != want {
		t.Errorf("got standbys %q, want %q", got, want)
	}
	if got, want := ask(t, c.Primary(), "SHOW server_version_num"), c.Version(); !strings.HasPrefix(got, strconv.Itoa(want)) {
		t.Errorf("got server version %s, want major version %d", got, want)
	}
}

func TestDSNListsTheNodesInTheOrderGiven(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 1})
	a, b := c.Primary(), c.Standby(0)
	if got, want := c.DSN(b, a), "postgres://postgres@"+b.Addr()+","+a.Addr()+"/postgres?sslmode=disable"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.DSN(), c.DSN(a, b); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := b.DSN(), c.DSN(b); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSettingsOfANodeWinOverThoseOfAll(t *testing.T) {
	c := startIn(t, pgcluster.Options{
		Standbys:     1,
		Settings:     map[string]string{"work_mem": "1MB", "autovacuum": "on", "cluster_name": `it's a \ test`},
		NodeSettings: map[int]map[string]string{1: {"work_mem": "2MB"}},
	})
	for _, test := range []struct {
		node          *pgcluster.Node
		setting, want string
	}{
		{c.Primary(), "work_mem", "1MB"},
		{c.Standby(0), "work_mem", "2MB"},
		{c.Standby(0), "autovacuum", "on"},
		{c.Standby(0), "cluster_name", `it's a \ test`},
	} {
		if got := ask(t, test.node, "SHOW "+test.setting); got != test.want {
			t.Errorf("%s of %s: got %q, want %q", test.setting, test.node.Name(), got, test.want)
		}
	}
}

func TestServersSpeakTLSAndAskForPasswordsWhenTold(t *testing.T) {
	certificate, key := selfSigned(t)
	c := startIn(t, pgcluster.Options{
		Standbys: 1,
		Settings: map[string]string{"ssl": "on"},
		HBA:      []string{"hostssl all app 127.0.0.1/32 scram-sha-256"},
		Files:    map[string][]byte{"server.crt": certificate, "server.key": key},
		Setup:    "CREATE ROLE app LOGIN PASSWORD 'right'",
	})
	for _, n := range c.Nodes() {
		right := strings.Replace(n.DSN(), pgcluster.Superuser+"@", "app:right@", 1)
		var encrypted bool
		do(t, connect(t, right).QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted))
		if !encrypted {
			t.Errorf("%s: connection is not encrypted", n.Name())
		}
		for _, dsn := range []string{
			strings.Replace(right, "right", "wrong", 1),
			strings.Replace(right, "require", "disable", 1),
		} {
			if _, err := pgx.Connect(t.Context(), dsn); err == nil {
				t.Errorf("%s: %s was let in", n.Name(), dsn)
			}
		}
	}
}

// selfSigned returns a certificate for 127.0.0.1 and its key, as PEM.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	do(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	do(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	do(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func TestNodesHaveThePortsThatTheyAreTold(t *testing.T) {
	first := freePorts(t, 2)
	c := startIn(t, pgcluster.Options{Standbys: 1, Port: first})
	if a, b := c.Primary().Port(), c.Standby(0).Port(); a != first || b != first+1 {
		t.Errorf("got ports %d and %d, want %d and the next", a, b, first)
	}
	_, err := pgcluster.Start(t.Context(), pgcluster.Options{Dir: emptyAfterTest(t), Port: first + 1})
	if err == nil || !strings.Contains(err.Error(), "port is taken") {
		t.Errorf("got %v, want to hear that the port is taken", err)
	}
}

// freePorts returns the first of count ports in a row that nobody listens on.
func freePorts(t *testing.T, count int) int {
	t.Helper()
	for first := 14000; first < 15000; first += count { // no other test takes ports from here
		free := true
		for port := first; port < first+count; port++ {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return first
		}
	}
	t.Fatal("no free ports")
	return 0
}

func TestStartTellsWhyAServerDoesNotStartAndLeavesNothing(t *testing.T) {
	dir := emptyAfterTest(t)
	_, err := pgcluster.Start(t.Context(), pgcluster.Options{Dir: dir, Settings: map[string]string{"work_mem": "much"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "work_mem": "much"`) {
		t.Errorf("got %v, want the server's complaint about work_mem", err)
	}
}

func TestStartRefusesOptionsThatContradictThemselves(t *testing.T) {
	for _, options := range []pgcluster.Options{
		{Standbys: -1},
		{Standbys: 1, NodeSettings: map[int]map[string]string{2: {"work_mem": "1MB"}}},
		{NodeSettings: map[int]map[string]string{-1: {"work_mem": "1MB"}}},
	} {
		if c, err := pgcluster.Start(t.Context(), options); err == nil {
			t.Errorf("%+v was accepted: %v", options, c.Close())
		}
	}
}

func TestStartStopsWithItsContextAndLeavesNothing(t *testing.T) {
	dir := emptyAfterTest(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if logs, _ := filepath.Glob(filepath.Join(dir, "*/node0/log")); len(logs) > 0 {
				break // the primary is being started
			}
		}
		cancel(why)
	}()
	_, err := pgcluster.Start(ctx, pgcluster.Options{Dir: dir, Standbys: 2})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestStartRefusesAFolderThatTheServersCannotReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the servers run as the user of the test, who can reach what the test can")
	}
	dir := emptyAfterTest(t)
	do(t, os.Chmod(dir, 0o700))
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Dir: dir})
	if err == nil {
		t.Errorf("started in a folder of root: %v", c.Close())
	}
}
