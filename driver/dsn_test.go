package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pgryw/pgryw/router"
)

// equal reports whether two Configs are the same. It takes Configs without
// functions.
func equal(a, b *Config) bool { return reflect.DeepEqual(a, b) }

// parseDSN parses a string that must be valid, and tells that the Config comes
// back from the string that is made of it.
func parseDSN(t testing.TB, dsn string) *Config {
	t.Helper()
	c, err := ParseDSN(dsn)
	if err != nil {
		t.Fatalf("%s: %v", dsn, err)
	}
	back, err := ParseDSN(c.FormatDSN())
	if err != nil || !equal(back, c) {
		t.Fatalf("%s: got %+v, comes back from %q as %+v, %v", dsn, c, c.FormatDSN(), back, err)
	}
	return c
}

func TestOptionsAreTakenOutOfTheStringAndTheRestIsLeftAsItWas(t *testing.T) {
	isolate(t)
	off := Config{Route: router.RouteOff}
	both := Config{Route: router.RouteOff, Scope: router.ScopeConn}
	for _, tt := range []struct {
		dsn, postgres string
		want          Config
	}{
		// URLs.
		{"postgres://pg-a/shop", "postgres://pg-a/shop", Config{}},
		{"postgresql://pg-a?pgryw.route=off", "postgresql://pg-a", off},
		{"postgres://?pgryw.route=off", "postgres://", off},
		{"postgres:///?pgryw.route=off", "postgres:///", off},
		{"postgres://u:p@pg-a:1,pg-b:2/shop?pgryw.route=off", "postgres://u:p@pg-a:1,pg-b:2/shop", off},
		{"postgres://pg-a/shop?pgryw.route=off&sslmode=disable", "postgres://pg-a/shop?sslmode=disable", off},
		{"postgres://pg-a/shop?sslmode=disable&pgryw.route=off", "postgres://pg-a/shop?sslmode=disable", off},
		{
			"postgres://pg-a?pgryw.route=off&sslmode=disable&pgryw.scope=conn&application_name=a%20b",
			"postgres://pg-a?sslmode=disable&application_name=a%20b", both,
		},
		{"postgres://pg-a?pgryw.route=off&", "postgres://pg-a?", off},
		{"postgres://pg-a?sslmode=disable&pgryw.route=off&", "postgres://pg-a?sslmode=disable&", off},
		{"postgres://pg-a?pgryw%2Eroute=%6Fff", "postgres://pg-a", off},
		{"postgres://pg-a?%70gryw.route= off ", "postgres://pg-a", off},
		{"postgres://pg-a?pgryw.route=auto&pgryw.route=off", "postgres://pg-a", off},
		{"postgres://pg-a?pgryw.route=off&pgryw.route=default", "postgres://pg-a", Config{}},
		{"postgres://u?x:p@pg-a?pgryw.route=off", "postgres://u?x:p@pg-a", off},
		{"postgres://[::1]:5433,[fe80::1%25eth0]/shop?pgryw.route=off", "postgres://[::1]:5433,[fe80::1%25eth0]/shop", off},
		{"postgres://[a?pgryw.route=off,b/]/?pgryw.scope=conn", "postgres://[a?pgryw.route=off,b/]/", Config{Scope: router.ScopeConn}},
		{"postgres://pg-a,[b?pgryw.route=off]?pgryw.scope=conn", "postgres://pg-a,[b?pgryw.route=off]", Config{Scope: router.ScopeConn}},
		{"postgres://pg-a/sh@p?pgryw.route=off", "postgres://pg-a/sh@p", off},
		{"postgres://pg-a?application_name=+&pgryw.route=off", "postgres://pg-a?application_name=+", off},
		{"postgres://pg-a?options=-c%20pgryw.x%3D1", "postgres://pg-a?options=-c%20pgryw.x%3D1", Config{}},
		{"postgres:///shop?host=/tmp&pgryw.route=off", "postgres:///shop?host=/tmp", off},

		// Keywords and values.
		{"host=pg-a dbname=shop", "host=pg-a dbname=shop", Config{}},
		{"pgryw.route=off", "", off},
		{" pgryw.route=off ", "", off},
		{"host=pg-a pgryw.route=off", "host=pg-a", off},
		{"pgryw.route=off host=pg-a", "host=pg-a", off},
		{"host=pg-a pgryw.route=off user=u", "host=pg-a user=u", off},
		{"host=pg-a\npgryw.route = off\n\tpgryw.scope\t=\n'conn'\nuser=u", "host=pg-a\n\tuser=u", both},
		{"host='pg-a'pgryw.route='off'user=u", "host='pg-a'user=u", off},
		{`pgryw.route=o\ff host=pg-a`, "host=pg-a", off},
		{`pgryw.route='o\f\f' host=pg-a`, "host=pg-a", off},
		{`host=pg-a pgryw.route=off\`, "host=pg-a", off},
		{"pgryw.route=auto pgryw.route=off", "", off},
		{`password='a\' pgryw.route=off \\' pgryw.scope=conn`, `password='a\' pgryw.route=off \\'`, Config{Scope: router.ScopeConn}},
		{`password=a\ pgryw.route=off`, `password=a\ pgryw.route=off`, Config{}},
		{"user= pgryw.route=off", "user= pgryw.route=off", Config{}},
		{`pgryw.route=off password=p\`, `password=p\`, off},
		{"pgryw.route=off user=", "user=", off},
		{"options='-c pgryw.x=1'", "options='-c pgryw.x=1'", Config{}},
		{"pgryw.route=off postgres://pg-a=1", " postgres://pg-a=1", off},
	} {
		got, want := parseDSN(t, tt.dsn), tt.want
		want.Postgres = tt.postgres
		if !equal(got, &want) {
			t.Errorf("%q: got %+v, want %+v", tt.dsn, got, want)
		}
		if got, want := describe(t, got.Postgres), describe(t, tt.dsn); got != want {
			t.Errorf("%q: pgx is left with\n%s\nwant\n%s", tt.dsn, got, want)
		}
	}
}

func TestAConfigIsWrittenIntoItsStringWithoutChangingTheRest(t *testing.T) {
	isolate(t)
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{}, ""},
		{Config{Route: router.RouteOff, Probe: time.Second}, "pgryw.route=off pgryw.probe=1s"},
		{Config{Postgres: "postgres://pg-a/shop"}, "postgres://pg-a/shop"},
		{Config{Postgres: "postgres://pg-a", Route: router.RouteOff}, "postgres://pg-a?pgryw.route=off"},
		{
			Config{Postgres: "postgres://pg-a?sslmode=disable", Route: router.RouteOff, PoolMaxConns: 4},
			"postgres://pg-a?sslmode=disable&pgryw.route=off&pgryw.pool_max_conns=4",
		},
		{Config{Postgres: "postgres://pg-a?", Route: router.RouteOff}, "postgres://pg-a?pgryw.route=off&"},
		{Config{Postgres: "postgres://pg-a?user=u&", Route: router.RouteOff}, "postgres://pg-a?user=u&pgryw.route=off&"},
		{Config{Postgres: "postgres://pg-a/b&", Route: router.RouteOff}, "postgres://pg-a/b&?pgryw.route=off"},
		{Config{Postgres: "host=pg-a", Route: router.RouteOff}, "pgryw.route=off host=pg-a"},
		{Config{Postgres: "user=", CaptureTimeout: 1500}, "pgryw.capture_timeout=1.5us user="},
		{Config{Postgres: `user=u\`, Route: router.RouteOff}, `pgryw.route=off user=u\`},
		{Config{Postgres: " ", Route: router.RouteOff}, "pgryw.route=off  "},
		// What is the default, but set, is written: it comes back as set.
		{Config{CaptureTimeout: time.Second}, "pgryw.capture_timeout=1s"},
	} {
		if got := tt.config.FormatDSN(); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.config, got, tt.want)
		}
		if back, err := ParseDSN(tt.want); err != nil || !equal(back, &tt.config) {
			t.Errorf("%q: got %+v, %v; want %+v", tt.want, back, err, tt.config)
		}
	}
}

func TestAServiceMayHoldOptionsWhichTheStringOverrules(t *testing.T) {
	home := isolate(t)
	write(t, filepath.Join(home, ".pg_service.conf"), `
[shop]
host=pg-a,pg-b
user=app
pgryw.route=hinted
pgryw.scope = conn
pgryw.capture_timeout=5s
[plain]
host=pg-c
[broken]
pgryw.route=never
[unknown]
pgryw.rout=auto
[standby]
target_session_attrs=standby
`)
	shop := Config{Route: router.RouteHinted, Scope: router.ScopeConn, CaptureTimeout: 5 * time.Second}
	off, undone := shop, shop
	off.Route = router.RouteOff
	undone.Route, undone.CaptureTimeout = 0, 0
	for _, tt := range []struct {
		dsn, postgres string
		want          Config
	}{
		{"service=shop", "service=shop", shop},
		{"postgres://?service=shop", "postgres://?service=shop", shop},
		{"service=plain pgryw.route=off", "service=plain", Config{Route: router.RouteOff}},
		{"service=shop pgryw.route=off", "service=shop", off},
		{"postgres:///?pgryw.route=off&service=shop", "postgres:///?service=shop", off},
		{"service=shop pgryw.route=auto pgryw.capture_timeout=default", "service=shop", undone},
		{"service=broken pgryw.route=off", "service=broken", Config{Route: router.RouteOff}},
	} {
		got, want := parseDSN(t, tt.dsn), tt.want
		want.Postgres = tt.postgres
		if !equal(got, &want) {
			t.Errorf("%s: got %+v, want %+v", tt.dsn, got, want)
		}
	}

	if got, want := undone.FormatDSN(), "pgryw.scope=conn"; got != want {
		t.Errorf("without the service: got %q, want %q", got, want)
	}
	undone.Postgres = "service=shop"
	if got, want := undone.FormatDSN(), "pgryw.route=default pgryw.capture_timeout=default service=shop"; got != want {
		t.Errorf("with the service: got %q, want %q", got, want)
	}

	t.Setenv("PGSERVICE", "shop")
	if got := parseDSN(t, ""); !equal(got, &shop) {
		t.Errorf("PGSERVICE=shop: got %+v, want %+v", got, shop)
	}
	for dsn, want := range map[string]string{
		"service=broken":  "pgryw: pgryw.route must be one of auto, hinted, off, or default",
		"service=unknown": "pgryw: unknown option pgryw.rout; ",
		"service=standby": "pgryw: target_session_attrs must be any, read-write or primary",
		"service=none":    "pgryw: the connection string cannot be used: the service file has no section of the service's name",
	} {
		if c, err := ParseDSN(dsn); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want %q", dsn, c, err, want)
		}
	}
}

func TestTargetSessionAttrsMayOnlyAskForWhatThePlainDriverNeeds(t *testing.T) {
	isolate(t)
	const refused = "pgryw: target_session_attrs must be any, read-write or primary, which are for plain pgx; " +
		"pgryw finds out the role of every host and needs the primary among them"
	for value, want := range map[string]string{
		"any":            "",
		"read-write":     "",
		"primary":        "",
		"read-only":      refused,
		"standby":        refused,
		"prefer-standby": refused,
		"hunter2":        "pgryw: the connection string cannot be used: target_session_attrs must be any, read-write or primary",
	} {
		for _, dsn := range []string{
			"postgres://pg-a,pg-b/shop?target_session_attrs=" + value + "&pgryw.route=auto",
			"host=pg-a target_session_attrs=" + value,
			"",
		} {
			if dsn == "" {
				t.Setenv("PGTARGETSESSIONATTRS", value)
			}
			c, err := ParseDSN(dsn)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s in %q: got %q, want %q", value, dsn, got, want)
			}
			if err != nil {
				continue
			}
			hosts, err := c.hosts()
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hosts {
				if h.config.ValidateConnect != nil {
					t.Errorf("%s in %q: %s is still asked for its role", value, dsn, h.label)
				}
			}
		}
		unset(t, "PGTARGETSESSIONATTRS")
	}
}

func TestANameOfTheRegistryOfThePgxDriverIsRefused(t *testing.T) {
	isolate(t)
	config, err := pgx.ParseConfig("host=pg-a")
	if err != nil {
		t.Fatal(err)
	}
	name := stdlib.RegisterConnConfig(config)
	defer stdlib.UnregisterConnConfig(name)

	_, err = ParseDSN(name)
	if err == nil || !strings.HasPrefix(err.Error(), "pgryw: ") || !strings.Contains(err.Error(), "driver.NewConnector") {
		t.Errorf("%s: got %v, want a sentence that points to NewConnector", name, err)
	}
	for _, other := range []string{"registeredConnConfig", "registeredConnConfigX", "registeredConnConfig1=x"} {
		if _, err := ParseDSN(other); err != nil && strings.Contains(err.Error(), "driver.NewConnector") {
			t.Errorf("%s: got %v", other, err)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEveryByteComesBackFromAnEscapedURLAndAQuotedValue(t *testing.T) {
	for b := range 256 {
		plain := "a" + string([]byte{byte(b)}) + "z"
		if got := unescapeURL(escapeURL(plain)); got != plain {
			t.Errorf("URL: %q comes back as %q", plain, got)
		}
		lower := fmt.Sprintf("a%%%02xz", b)
		if got := unescapeURL(lower); got != plain {
			t.Errorf("URL: %q is read as %q, want %q", lower, got, plain)
		}
		text := quote(plain) + " next=x"
		if got, end := keywordValue(text, 0); got != plain || text[end:] != " next=x" {
			t.Errorf("keyword: %q comes back as %q, and %q behind it", plain, got, text[end:])
		}
	}
	if got, end := keywordValue(quote("")+" next=x", 0); got != "" || end != 2 {
		t.Errorf("keyword: nothing comes back as %q, ending at %d", got, end)
	}
}
