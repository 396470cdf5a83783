package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

func TestTheShimRunsUnderTLSWithChannelBinding(t *testing.T) {
	certificate, key := selfSigned(t)
	secure := pgcluster.New(t, pgcluster.Options{
		Settings: map[string]string{"ssl": "on", "password_encryption": "scram-sha-256"},
		Files:    map[string][]byte{"server.crt": certificate, "server.key": key},
		HBA:      []string{"hostssl all bound 127.0.0.1/32 scram-sha-256"},
		Setup:    "create role bound login password 'secret'; create table t (v text); grant all on t to bound; insert into t values ('a')",
	})
	cfg, err := pgx.ParseConfig(secure.DSN())
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Password = "bound", "secret"
	cfg.TLSConfig = &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"} //nolint:gosec // a certificate of our own
	cfg.Fallbacks = nil
	cfg.ChannelBinding = "require"
	c := connect(t, cfg)
	if _, ok := c.std.Conn().PgConn().Conn().(*tls.Conn); !ok {
		t.Fatalf("the connection is a %T", c.std.Conn().PgConn().Conn())
	}
	for _, p := range writePaths {
		for range 2 {
			prepare(t, c, p)
			o, err := one(t, c, Flight{Capture: captureQuery}, p.run)
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
			wantCapture(t, &o)
		}
	}
	for _, p := range readPaths {
		o, err := one(t, c, Flight{Guard: guardQuery, Pass: notInRecovery, AskXID: AskBehind, Extended: true}, p.run)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		wantGuard(t, &o)
		wantNoXID(t, &o)
	}
	c.shim.Arm(rejecting())
	if err := readPaths[0].run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.shim.Finish()
	if err := c.shim.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// selfSigned returns a certificate for this machine and its key.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}
