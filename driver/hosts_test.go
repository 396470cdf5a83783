package driver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// describe writes down all that pgx takes from a connection string, but our
// options.
func describe(t testing.TB, text string) string {
	t.Helper()
	config, err := pgx.ParseConfig(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return describeHosts(config) + describeRest(config) + "password=" + config.Password
}

// describeHosts writes down the addresses that pgx would try, with their TLS.
func describeHosts(config *pgx.ConnConfig) string {
	var b strings.Builder
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	for _, address := range append([]*pgconn.FallbackConfig{first}, config.Fallbacks...) {
		fmt.Fprintf(&b, "%q:%d %s\n", address.Host, address.Port, describeTLS(address))
	}
	return b.String()
}

func describeTLS(address *pgconn.FallbackConfig) string {
	if address.TLSConfig == nil {
		return "plain"
	}
	c := address.TLSConfig
	kind := "unchecked"
	switch {
	case !c.InsecureSkipVerify:
		kind = "verify-full"
	case c.VerifyPeerCertificate != nil:
		kind = "verify-ca"
	}
	return fmt.Sprintf("%s name=%q roots=%t protocols=%q", kind, c.ServerName, c.RootCAs != nil, c.NextProtos)
}

func describeRest(config *pgx.ConnConfig) string {
	var b strings.Builder
	fmt.Fprintln(&b, config.Database, config.User, config.ConnectTimeout, config.KerberosSrvName, config.KerberosSpn,
		config.SSLNegotiation, config.SSLCertMode, config.MinProtocolVersion, config.MaxProtocolVersion,
		config.ChannelBinding, config.RequireAuth, config.StatementCacheCapacity, config.DescriptionCacheCapacity,
		config.DefaultQueryExecMode)
	for _, key := range slices.Sorted(maps.Keys(config.RuntimeParams)) {
		if !isOurs(key) {
			fmt.Fprintf(&b, "%q=%q\n", key, config.RuntimeParams[key])
		}
	}
	return b.String()
}

// hostsOf returns the hosts of a string that must be valid.
func hostsOf(t testing.TB, dsn string) []host {
	t.Helper()
	hosts, err := parseDSN(t, dsn).hosts()
	if err != nil {
		t.Fatalf("%s: %v", dsn, err)
	}
	return hosts
}

// lines writes down the hosts, one per line: label and what pgx would try.
func lines(hosts []host) string {
	var b strings.Builder
	for _, h := range hosts {
		addresses := strings.TrimSuffix(describeHosts(h.config), "\n")
		fmt.Fprintf(&b, "%s: %s\n", h.label, strings.ReplaceAll(addresses, "\n", "; "))
	}
	return b.String()
}

func TestEveryHostIsANodeWithItsOwnAddressAndTLS(t *testing.T) {
	home := isolate(t)
	certificate := writeCertificate(t, home)
	for _, tt := range []struct{ dsn, want string }{
		{
			"postgres://pg-a,pg-b:5433/shop", `
pg-a:5432: "pg-a":5432 unchecked name="pg-a" roots=false protocols=[]; "pg-a":5432 plain
pg-b:5433: "pg-b":5433 unchecked name="pg-b" roots=false protocols=[]; "pg-b":5433 plain
`,
		},
		{
			"host=pg-b,pg-a port=5433 sslmode=allow", `
pg-b:5433: "pg-b":5433 plain; "pg-b":5433 unchecked name="pg-b" roots=false protocols=[]
pg-a:5433: "pg-a":5433 plain; "pg-a":5433 unchecked name="pg-a" roots=false protocols=[]
`,
		},
		{
			"host=pg-a,pg-b port=1,2 sslmode=disable", `
pg-a:1: "pg-a":1 plain
pg-b:2: "pg-b":2 plain
`,
		},
		{
			"postgres://pg-a,pg-b?sslmode=require", `
pg-a:5432: "pg-a":5432 unchecked name="pg-a" roots=false protocols=[]
pg-b:5432: "pg-b":5432 unchecked name="pg-b" roots=false protocols=[]
`,
		},
		{
			"postgres://pg-a,10.0.0.1?sslmode=verify-ca&sslrootcert=" + certificate, `
pg-a:5432: "pg-a":5432 verify-ca name="pg-a" roots=true protocols=[]
10.0.0.1:5432: "10.0.0.1":5432 verify-ca name="" roots=true protocols=[]
`,
		},
		{
			"postgres://pg-a,10.0.0.1?sslmode=verify-full&sslsni=0&sslrootcert=" + certificate, `
pg-a:5432: "pg-a":5432 verify-full name="pg-a" roots=true protocols=[]
10.0.0.1:5432: "10.0.0.1":5432 verify-full name="10.0.0.1" roots=true protocols=[]
`,
		},
		{
			"postgres://pg-a,pg-b?sslnegotiation=direct", `
pg-a:5432: "pg-a":5432 unchecked name="pg-a" roots=false protocols=["postgresql"]
pg-b:5432: "pg-b":5432 unchecked name="pg-b" roots=false protocols=["postgresql"]
`,
		},
		{
			"postgres://[::1]:5433,[2001:db8::2]/shop?sslmode=require", `
[::1]:5433: "::1":5433 unchecked name="" roots=false protocols=[]
[2001:db8::2]:5432: "2001:db8::2":5432 unchecked name="" roots=false protocols=[]
`,
		},
		{
			"host=/run/a,pg-b,/run/c port=1,2,3 sslmode=require", `
/run/a/.s.PGSQL.1: "/run/a":1 plain
pg-b:2: "pg-b":2 unchecked name="pg-b" roots=false protocols=[]
/run/c/.s.PGSQL.3: "/run/c":3 plain
`,
		},
		{
			"postgres://%2Frun%2Fa:5433/shop", `
/run/a/.s.PGSQL.5433: "/run/a":5433 plain
`,
		},
		{
			`host='pg a,pg\'b,pg\\c' sslmode=disable user=`, `
pg a:5432: "pg a":5432 plain
pg'b:5432: "pg'b":5432 plain
pg\c:5432: "pg\\c":5432 plain
`,
		},
		{
			"postgres://pg-x:9/?host=pg-a%2Cpg-b%26x&port=1&sslmode=disable", `
pg-a:1: "pg-a":1 plain
pg-b&x:1: "pg-b&x":1 plain
`,
		},
		// The same address twice is one node, the same name with another port is
		// not.
		{
			"postgres://pg-a,pg-b,pg-a:5432,pg-a:5433/?sslmode=prefer", `
pg-a:5432: "pg-a":5432 unchecked name="pg-a" roots=false protocols=[]; "pg-a":5432 plain
pg-b:5432: "pg-b":5432 unchecked name="pg-b" roots=false protocols=[]; "pg-b":5432 plain
pg-a:5433: "pg-a":5433 unchecked name="pg-a" roots=false protocols=[]; "pg-a":5433 plain
`,
		},
		// A value that is left open at the end of the string stays as it is.
		{
			`port=5433 sslmode=disable host=pg-a password=secret\`, `
pg-a:5433: "pg-a":5433 plain
`,
		},
	} {
		if got, want := lines(hostsOf(t, tt.dsn)), strings.TrimPrefix(tt.want, "\n"); got != want {
			t.Errorf("%s: got\n%swant\n%s", tt.dsn, got, want)
		}
	}
}

func TestHostsAndPortsMayComeFromTheEnvironmentAndFromAService(t *testing.T) {
	home := isolate(t)
	write(t, home+"/services", "[shop]\nhost=pg-x,pg-y\nport=1,2\nsslmode=disable\npgryw.route=hinted\n")
	t.Setenv("PGSERVICEFILE", home+"/services")
	if got, want := lines(hostsOf(t, "service=shop")), "pg-x:1: \"pg-x\":1 plain\npg-y:2: \"pg-y\":2 plain\n"; got != want {
		t.Errorf("service: got\n%swant\n%s", got, want)
	}

	t.Setenv("PGSSLMODE", "disable")
	t.Setenv("PGHOST", "pg-a,pg-b")
	t.Setenv("PGPORT", "5433,5434")
	for _, dsn := range []string{"", "postgres://", "user=app", "pgryw.scope=conn"} {
		want := "pg-a:5433: \"pg-a\":5433 plain\npg-b:5434: \"pg-b\":5434 plain\n"
		if got := lines(hostsOf(t, dsn)); got != want {
			t.Errorf("%q: got\n%swant\n%s", dsn, got, want)
		}
	}

	_, err := ParseDSN("host=pg-c")
	want := "pgryw: the connection string cannot be used: it has neither one port for all hosts nor one for each"
	if err == nil || err.Error() != want {
		t.Errorf("one host and two ports: got %v, want %q", err, want)
	}
}

func TestANodesSettingsAreThoseOfPlainPgxAndItsOwn(t *testing.T) {
	home := isolate(t)
	write(t, home+"/services", "[shop]\npgryw.route=hinted\napplication_name=shop\n")
	t.Setenv("PGSERVICEFILE", home+"/services")
	t.Setenv("PGOPTIONS", "-c pgryw.own=1")
	const dsn = "postgres://app:secret@pg-a,pg-b/shop?service=shop&pgryw.probe=1s&default_query_exec_mode=exec" +
		"&statement_cache_capacity=7&description_cache_capacity=8&connect_timeout=3&search_path=a%2Cb&require_auth=md5"
	hosts := hostsOf(t, dsn)

	whole, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	var addresses string
	for _, h := range hosts {
		addresses += describeHosts(h.config)
		if got, want := describeRest(h.config), describeRest(whole); got != want {
			t.Errorf("%s: got\n%swant\n%s", h.label, got, want)
		}
		if got, want := h.config.Password, "secret"; got != want {
			t.Errorf("%s: got password %q, want %q", h.label, got, want)
		}
		for key := range h.config.RuntimeParams {
			if isOurs(key) {
				t.Errorf("%s: the server would be sent %s", h.label, key)
			}
		}
		if got, want := h.config.RuntimeParams["options"], "-c pgryw.own=1"; got != want {
			t.Errorf("%s: got options %q, want %q", h.label, got, want)
		}
	}
	if got, want := addresses, describeHosts(whole); got != want {
		t.Errorf("the hosts together would try\n%swant\n%s", got, want)
	}

	hosts[0].config.RuntimeParams["search_path"] = "changed"
	hosts[0].config.TLSConfig.ServerName = "changed"
	if got, want := hosts[1].config.RuntimeParams["search_path"], "a,b"; got != want {
		t.Errorf("a change of one host has reached the other: search_path is %q", got)
	}
	if got, want := hosts[1].config.TLSConfig.ServerName, "pg-b"; got != want {
		t.Errorf("a change of one host has reached the other: the server name is %q", got)
	}
}

type tracer struct{ pgx.QueryTracer }

func TestANodesSettingsConnectAndCarryTheTracer(t *testing.T) {
	isolate(t)
	c := &Config{Postgres: "postgres://127.0.0.1:1,127.0.0.1:2/shop?sslmode=disable", Tracer: new(tracer)}
	hosts, err := c.hosts()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		if h.config.Tracer != c.Tracer {
			t.Errorf("%s: the tracer is missing", h.label)
		}
		// pgx panics when a config is not from its own parser; nobody listens on
		// the port.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if conn, err := pgx.ConnectConfig(ctx, h.config); err == nil {
			t.Errorf("%s: somebody answers", h.label)
			conn.Close(ctx)
		}
		cancel()
	}
	if got, want := len(hosts), 2; got != want {
		t.Errorf("got %d hosts, want %d", got, want)
	}
}
