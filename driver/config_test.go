package driver

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pgryw/pgryw/router"
)

// isolate gives the test an environment without PG* variables and an empty home
// directory, whose path it returns.
func isolate(tb testing.TB) string {
	tb.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PG") {
			unset(tb, name)
		}
	}
	home := tb.TempDir()
	tb.Setenv("HOME", home)
	return home
}

// unset takes a variable out of the environment until the test ends.
func unset(tb testing.TB, name string) {
	tb.Helper()
	tb.Setenv(name, "")
	if err := os.Unsetenv(name); err != nil {
		tb.Fatal(err)
	}
}

func TestTheZeroConfigIsTheEnvironmentsAndHasTheDefaultOfEveryOption(t *testing.T) {
	isolate(t)
	t.Setenv("PGHOST", "pg-a,pg-b")
	parsed, err := ParseDSN("")
	if err != nil {
		t.Fatal(err)
	}
	if !equal(parsed, new(Config)) {
		t.Errorf("got %+v, want the zero Config", parsed)
	}

	full := new(Config).withDefaults()
	want := Config{
		CaptureTimeout:        time.Second,
		Probe:                 250 * time.Millisecond,
		Resolve:               30 * time.Second,
		PoolMaxConnLifetime:   time.Hour,
		PoolMaxConnIdleTime:   30 * time.Minute,
		PoolHealthCheckPeriod: time.Minute,
		Logger:                slog.Default(),
	}
	if !equal(full, &want) {
		t.Errorf("got defaults %+v, want %+v", full, want)
	}
}

func TestDefaultsTakeThePlaceOfZeroOnly(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	set := &Config{
		Postgres:       "host=pg-a",
		Route:          router.RouteOff,
		CaptureTimeout: time.Minute,
		PoolMaxConns:   7,
		Logger:         logger,
		OnRoute:        func(context.Context, router.Decision) {},
	}
	full := set.withDefaults()
	if full.Postgres != "host=pg-a" || full.Route != router.RouteOff || full.CaptureTimeout != time.Minute ||
		full.PoolMaxConns != 7 || full.Logger != logger || full.OnRoute == nil {
		t.Errorf("what was set has changed: %+v", full)
	}
	if full.Probe != 250*time.Millisecond {
		t.Errorf("got a probe of %v, want 250ms", full.Probe)
	}
	if set.Probe != 0 {
		t.Error("the original has changed")
	}
}

func TestThePolicyIsMadeOfTheRoutingOptions(t *testing.T) {
	c := &Config{
		Route:        router.RouteHinted,
		Mode:         router.ModeBounded,
		MaxStaleness: 2 * time.Second,
		Scope:        router.ScopeConn,
		Wait:         20 * time.Millisecond,
		Monotonic:    true,
		ReadOnlyTx:   router.ReadOnlyTxPrimary,
		Volatile:     router.VolatileReplica,
	}
	got, want := c.policy(), router.Policy{
		Route:        router.RouteHinted,
		Mode:         router.ModeBounded,
		MaxStaleness: 2 * time.Second,
		Scope:        router.ScopeConn,
		Wait:         20 * time.Millisecond,
		Monotonic:    true,
		ReadOnlyTx:   router.ReadOnlyTxPrimary,
		Volatile:     router.VolatileReplica,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAConfigBuiltInGoIsCheckedLikeADSN(t *testing.T) {
	isolate(t)
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{Route: 9}, "pgryw: pgryw.route must be one of auto, hinted, off, or default"},
		{Config{Mode: 9}, "pgryw: pgryw.mode must be one of strict, bounded, relaxed, or default"},
		{Config{Volatile: 2}, "pgryw: pgryw.volatile must be one of primary, replica, or default"},
		{Config{Wait: -1}, "pgryw: pgryw.wait must be 0 or a duration with its unit, such as 20ms, or default"},
		{Config{Probe: -time.Second}, "pgryw: pgryw.probe must be a duration above 0 with its unit, such as 250ms, or default"},
		{Config{PoolMaxConns: -1}, "pgryw: pgryw.pool_max_conns must be a whole number, 0 or more, or default"},
		{Config{Mode: router.ModeRelaxed}, "pgryw: pgryw.mode is not built yet; it can only be left at its default, strict"},
		{Config{Monotonic: true}, "pgryw: pgryw.monotonic is not built yet; it can only be left at its default, off"},
		{Config{Resolve: time.Second}, "pgryw: pgryw.resolve is not built yet; it can only be left at its default, 30s"},
		{
			Config{Postgres: "postgres://pg-a/shop?pgryw.route=off"},
			"pgryw: Config.Postgres must not hold pgryw.* options: set the fields, or use ParseDSN",
		},
		{
			Config{Postgres: "host=pg-a PGRYW.route=off"},
			"pgryw: Config.Postgres must not hold pgryw.* options: set the fields, or use ParseDSN",
		},
		{Config{Postgres: "host=pg-a sslmode=perhaps"}, "pgryw: the connection string cannot be used: sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full"},
	} {
		if err := tt.config.validate(); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: got %v, want %q", tt.config, err, tt.want)
		}
		if _, err := tt.config.hosts(); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: hosts: got %v, want %q", tt.config, err, tt.want)
		}
	}

	for _, c := range []Config{
		{},
		{Resolve: 30 * time.Second},
		{Route: router.RouteOff, Scope: router.ScopeConn, ReadOnlyTx: router.ReadOnlyTxPrimary, Volatile: router.VolatileReplica},
		{CaptureTimeout: 1, Probe: 1, PoolMaxConns: 1, PoolMinConns: 2, PoolPingTimeout: time.Hour},
	} {
		if err := c.validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every option has the field of its name, and every field but Postgres and what
// a DSN cannot hold has its option; the words "Default: …. Zero means …." end
// every field's comment and agree with the table.
func TestTheCommentOfEveryConfigFieldEndsWithItsDefault(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	initial := map[string]string{"postgres": `""`}
	for _, hook := range []string{"beforeconnect", "afterconnect", "tracer", "onroute"} {
		initial[hook] = "nil"
	}
	initial["logger"] = "slog.Default()"
	for _, o := range options {
		initial[strings.ReplaceAll(strings.TrimPrefix(o.key, "pgryw."), "_", "")] = o.initial
	}

	ends := regexp.MustCompile(`Default: (.+)\. Zero means .+\.$`)
	structure := file.Scope.Lookup("Config").Decl.(*ast.TypeSpec).Type.(*ast.StructType)
	for _, field := range structure.Fields.List {
		name := field.Names[0].Name
		want, known := initial[strings.ToLower(name)]
		if !known {
			t.Errorf("%s has no option", name)
		}
		delete(initial, strings.ToLower(name))

		comment := strings.Join(strings.Fields(field.Doc.Text()), " ")
		got := ends.FindStringSubmatch(comment)
		if got == nil || got[1] != want {
			t.Errorf("%s: the comment ends %q, want %q", name, comment[max(0, len(comment)-60):], "Default: "+want+". Zero means ….")
		}
		if !strings.HasPrefix(comment, name+" ") {
			t.Errorf("%s: the comment does not begin with the name", name)
		}
	}
	for name := range initial {
		t.Errorf("no field is called %s", name)
	}
}
