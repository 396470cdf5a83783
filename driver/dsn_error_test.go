package driver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Every sentence has a string that leads to it: a new version of pgx that says
// it in other words is noticed.
func TestWhatPgxRefusesIsRefusedWithASentence(t *testing.T) {
	home := isolate(t)
	certificate := writeCertificate(t, home)
	key, locked, junk, missing := home+"/key.pem", home+"/locked.pem", home+"/junk", home+"/missing"
	write(t, junk, "junk")
	write(t, home+"/services", "[shop]\nhost=pg-a\n")

	found := make(map[string]bool)
	for dsn, want := range map[string]string{
		"host=a\x00":             "it holds a NUL byte",
		"postgres://pg-a/%00":    "it holds a NUL byte (%00)",
		"postgres://pg-a/100%":   "a '%' in the URL is not followed by two hexadecimal digits; write %25 for a '%'",
		"postgres://pg-a/a b":    "a part of the URL has a space inside; write %20",
		"postgres://pg-a/?a&b=c": "a query parameter of the URL has no '='",
		"postgres://pg-a/?a=b=c": "a query parameter of the URL has more than one '='; write %3D within a value",
		"postgres://[::1":        "the ']' of an IPv6 address is missing",
		"postgres://[]":          "an IPv6 address is empty",
		"postgres://[::1]x":      "the ']' of an IPv6 address is followed by something else than a port, a host or a path",
		"user='a":                "a quoted value has no end",
		"us er=a":                "a keyword is not followed by '='",
		"pg-a":                   "it is neither a postgres:// URL nor a list of keyword=value",
		"mysql://pg-a":           "it is neither a postgres:// URL nor a list of keyword=value",
		"service=none servicefile=" + home + "/services":         "the service file has no section of the service's name",
		"service=none servicefile=" + missing:                    "the service file cannot be read",
		"host=a,b port=1,2,3":                                    "it has neither one port for all hosts nor one for each",
		"host=a port=0":                                          "a port is not a number from 1 to 65535",
		"sslmode=maybe host=pg-a":                                "sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full",
		"host=pg-a sslcert=" + certificate:                       "sslcert and sslkey must be given together",
		"host=pg-a sslrootcert=" + missing:                       "the file named by sslrootcert cannot be read: no such file or directory",
		"host=pg-a sslrootcert=" + junk:                          "the file named by sslrootcert holds no certificate",
		"host=pg-a sslcert=x sslkey=" + missing:                  "the file named by sslkey cannot be read: no such file or directory",
		"host=pg-a sslcert=x sslkey=" + junk:                     "the file named by sslkey is not PEM",
		"host=pg-a sslcert=x sslkey=" + locked:                   "the key named by sslkey is encrypted and there is no sslpassword",
		"host=pg-a sslcert=x sslpassword=wrong sslkey=" + locked: "sslpassword does not decrypt the key named by sslkey",
		"host=pg-a sslkey=" + key + " sslcert=" + missing:        "the file named by sslcert cannot be read: no such file or directory",
		"host=pg-a sslkey=" + key + " sslcert=" + junk:           "sslcert and sslkey are not a certificate and its key",
		"sslcertmode=maybe":                                      "sslcertmode must be one of disable, allow, require",
		"connect_timeout=3s":                                     "connect_timeout must be a whole number of seconds",
		"target_session_attrs=maybe":                             "target_session_attrs must be any, read-write or primary",
		"min_protocol_version=1":                                 "min_protocol_version must be one of 3.0, 3.2, latest",
		"max_protocol_version=1":                                 "max_protocol_version must be one of 3.0, 3.2, latest",
		"max_protocol_version=3.0 min_protocol_version=3.2":      "min_protocol_version is greater than max_protocol_version",
		"channel_binding=maybe":                                  "channel_binding must be one of disable, prefer, require",
		"require_auth=maybe":                                     "require_auth is not a list of authentication methods",
		"statement_cache_capacity=x":                             "statement_cache_capacity must be a whole number",
		"description_cache_capacity=x":                           "description_cache_capacity must be a whole number",
		"default_query_exec_mode=maybe":                          "default_query_exec_mode must be one of cache_statement, cache_describe, describe_exec, exec, simple_protocol",
	} {
		want = "pgryw: the connection string cannot be used: " + want
		_, err := ParseDSN(dsn)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", dsn, err, want)
		}
		if strings.HasSuffix(want, "no such file or directory") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the error is not fs.ErrNotExist", dsn)
		}
		for _, r := range refusals {
			if err != nil && strings.HasPrefix(err.Error(), "pgryw: the connection string cannot be used: "+r.sentence) {
				found[r.sentence] = true
			}
		}
	}

	// Nothing in a string leads to these.
	for _, guard := range []string{"it is not a valid URL", "the system's certificates cannot be read", "its TLS settings cannot be used"} {
		found[guard] = true
	}
	for _, r := range refusals {
		if !found[r.sentence] {
			t.Errorf("nothing has led to %q", r.sentence)
		}
	}
}

func TestNoErrorShowsAnyPartOfTheString(t *testing.T) {
	isolate(t)
	const secret = "hunter2"
	for _, dsn := range []string{
		// Passwords in the wrong place, or not encoded as they should be.
		"postgres://app:hunter2@pg-a:none/shop",
		"postgres://app:hun%hunter2@pg-a/shop",
		"postgres://app:hunter2/x@pg-a/shop?sslmode=require",
		"postgres://app:hunter2?x@pg-a:5432:5432/shop",
		"postgres://app@u:hunter2@pg-a/shop",
		"postgres://app:p hunter2@pg-a/shop",
		"postgres://[hunter2",
		"postgres://[::1]hunter2",
		"postgres://pg-a/?hunter2",
		"postgres://pg-a/?hunter2=1=2",
		"postgres://pg-a/?password=hunter2%",
		"postgres://pg-a/?p%61ssword=hunter2&sslmode=hunter2",
		"postgres://pg-a/?sslpassword=hunter2&pgryw.route=bad",
		"postgres://pg-a:hunter2/",
		"mysql://app:hunter2@tcp(pg-a)/shop",
		"hunter2",
		"app:hunter2@pg-a/shop",
		"password='hunter2",
		"password = hunter2 port=x",
		"password=hunter2 word hunter2=x port=0",
		"pass word=hunter2",
		"password='it''s hunter2' sslmode=bad",
		`password='a\' hunter2' channel_binding=bad`,
		// Values.
		"host=hunter2 port=1,2,3",
		"user=hunter2 port=0",
		"dbname=hunter2 host=pg-a sslmode=bad",
		"port=hunter2",
		"sslmode=hunter2 host=pg-a",
		"sslrootcert=hunter2 host=pg-a",
		"sslcert=hunter2 host=pg-a",
		"sslcert=a sslkey=hunter2 host=pg-a",
		"sslcertmode=hunter2",
		"connect_timeout=hunter2",
		"target_session_attrs=hunter2",
		"target_session_attrs=standby password=hunter2",
		"min_protocol_version=hunter2",
		"max_protocol_version=hunter2",
		"channel_binding=hunter2",
		"require_auth=hunter2",
		"default_query_exec_mode=hunter2",
		"statement_cache_capacity=hunter2",
		"description_cache_capacity=hunter2",
		"service=hunter2",
		"service=x servicefile=hunter2",
		// Options, and what may be taken for one.
		"pgryw.route=hunter2",
		"pgryw.wait=hunter2",
		"pgryw.max_fallback=hunter2",
		"pgryw.hunter2=1",
		"pgryw.x=hunter2",
		"PGRYW.ROUTE=hunter2",
		"pgryw.mode=relaxed password=hunter2",
		"postgres://app:hunter2@pg-a/shop?pgryw.route=auto@hunter2",
		"postgres://pg-a/shop?pgryw.route=auto%26password%3Dhunter2",
		"postgres://pg-a?`:%20invalid%20port=hunter2&sslmode=bad",
		"registeredConnConfig1 password=hunter2 port=0",
	} {
		_, err := ParseDSN(dsn)
		if err == nil {
			t.Errorf("%s: accepted", dsn)
		}
		checkSilent(t, err, secret)
	}

	c := &Config{Postgres: "host=pg-a password=hunter2 pgryw.route=off"}
	_, err := c.hosts()
	checkSilent(t, err, secret)
}

// checkSilent tells that an error is one of ours, and that neither it nor what
// it wraps shows the secret in any way of printing it.
func checkSilent(t testing.TB, err error, secret string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "pgryw: ") {
		t.Errorf("got %v, want an error that begins with pgryw", err)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", text)
		}
	}
}

// writeCertificate writes a certificate, its key, and the key locked by a
// password, and returns the path of the certificate.
func writeCertificate(t testing.TB, dir string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	//nolint:staticcheck // the form of an encrypted key that pgx reads
	locked, err := x509.EncryptPEMBlock(rand.Reader, "EC PRIVATE KEY", plain, []byte("right"), x509.PEMCipherAES256)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: certificate},
		"key.pem":         {Type: "EC PRIVATE KEY", Bytes: plain},
		"locked.pem":      locked,
	} {
		write(t, filepath.Join(dir, name), string(pem.EncodeToMemory(block)))
	}
	return filepath.Join(dir, "certificate.pem")
}
