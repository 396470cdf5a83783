package driver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// authority is one that signs the servers' certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.pem = sign(t, template, template, a.key, a.key)
	return a
}

// certify returns a key and a certificate for a server of one name.
func (a *authority) certify(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	k := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	_, cert = sign(t, template, a.cert, k, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) (*x509.Certificate, []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// startTLS starts a primary with a certificate for 127.0.0.1, and a standby with
// one for localhost, which ask the role app for a password. It returns the file
// of the authority.
func startTLS(t *testing.T) (c *pgcluster.Cluster, rootFile string) {
	t.Helper()
	a := newAuthority(t)
	files := make(map[string][]byte)
	files["ip.crt"], files["ip.key"] = a.certify(t, "127.0.0.1")
	files["name.crt"], files["name.key"] = a.certify(t, "localhost")
	certificate := func(name string) map[string]string {
		return map[string]string{"ssl_cert_file": name + ".crt", "ssl_key_file": name + ".key"}
	}
	c = pgcluster.New(t, pgcluster.Options{
		Standbys: 1, Files: files,
		Settings:     map[string]string{"ssl": "on", "password_encryption": "scram-sha-256"},
		NodeSettings: map[int]map[string]string{0: certificate("ip"), 1: certificate("name")},
		HBA:          []string{"hostssl all app 127.0.0.1/32 scram-sha-256"},
		Setup:        calmSetup + `CREATE ROLE app LOGIN PASSWORD 'secret'; GRANT ALL ON counter TO app; GRANT pg_monitor TO app;`,
	})
	catchUp(t, c)
	rootFile = filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(rootFile, a.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return c, rootFile
}

// TestEachHostHasItsCertificateAndPasswordChecked connects with SCRAM bound to
// the TLS channel, to hosts whose certificates have one name each.
func TestEachHostHasItsCertificateAndPasswordChecked(t *testing.T) {
	t.Parallel()
	c, root := startTLS(t)
	ip, name := c.Primary().Port(), c.Standby(0).Port()
	dsn := func(password string, hosts ...string) string {
		return fmt.Sprintf("postgres://app%s@%s/postgres?sslmode=verify-full&channel_binding=require&sslrootcert=%s",
			password, strings.Join(hosts, ","), root)
	}
	primary, standby := fmt.Sprint("127.0.0.1:", ip), fmt.Sprint("localhost:", name)
	passfile := func(lines ...string) string {
		file := filepath.Join(t.TempDir(), "pgpass")
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return "&passfile=" + file
	}
	for _, tt := range []struct {
		name, dsn string
		trouble   string // in the standby's last error; empty if it serves
	}{
		{"the right names", dsn(":secret", primary, standby), ""},
		{"a name that is not the certificate's", dsn(":secret", primary, fmt.Sprint("127.0.0.1:", name)), "certificate"},
		{"a password of each host", dsn("", primary, standby) + passfile(
			"other:*:*:app:wrong", fmt.Sprintf("127.0.0.1:%d:*:app:secret", ip), fmt.Sprintf("localhost:%d:postgres:app:secret", name)), ""},
		{"a wrong password for the second host", dsn("", primary, standby) + passfile(
			fmt.Sprintf("127.0.0.1:%d:*:app:secret", ip), fmt.Sprintf("localhost:%d:*:app:wrong", name)), "28P01"},
		{"no password for the second host", dsn("", primary, standby) + passfile(fmt.Sprintf("127.0.0.1:%d:*:app:secret", ip)), "password"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := parse(t, tt.dsn)
			routes := &routes{}
			cfg.OnRoute = routes.note
			db := openOnly(t, cfg)
			if n, err := get(t.Context(), db, "calm"); err != nil || n != 0 {
				t.Fatalf("got %d, %v", n, err)
			}
			if got := routes.Last().Replica(); got != (tt.trouble == "") {
				t.Errorf("the read ran on %s by %s", routes.Last().Label, routes.Last().Reason)
			}
			if err := done(db.ExecContext(t.Context(), `UPDATE counter SET n = 0`)); err != nil {
				t.Error(err)
			}
			stats := statsOf(t, db)
			if last := stats.Nodes[1].LastError; !strings.Contains(last, tt.trouble) || (last == "") != (tt.trouble == "") {
				t.Errorf("got the standby's error %q, want one of %q", last, tt.trouble)
			}
			if n := stats.Nodes[0]; n.Role != router.RolePrimary || n.Trouble != router.ReasonNone {
				t.Errorf("got the primary as %s, %s", n.Role, n.Trouble)
			}
		})
	}
}
