package driver

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/router"
)

// seeds are connection strings of all forms, good and bad.
var seeds = []string{
	"",
	" ",
	"postgres://",
	"postgres://app:secret@pg-a:5432,pg-b:5433/shop?target_session_attrs=read-write&pgryw.probe=1s",
	"postgresql://pg-a?pgryw.route=off&",
	"postgres://pg-a?",
	"postgres://pg-a?sslmode=disable&pgryw%2Eroute=%6Fff&x=y&",
	"postgres://[::1]:1,[fe80::1%25eth0]/shop?pgryw.scope=conn",
	"postgres://[a?pgryw.route=off,b/]/?pgryw.scope=conn",
	"postgres://u?x@y@z/?pgryw.route=/&path=a@b",
	"postgres://pg-a?pgryw.route=/&x=a@b",
	"postgres://h%2Ca:,:/db%20?host=%2Ftmp,x&port=1,2& pgryw.volatile =%20replica",
	"postgres://pg-a,pg-a:5432/?sslmode=allow",
	"host=pg-a,pg-b port=1,2 pgryw.route = 'hinted' user=u",
	`pgryw.route=\o\f\f password='a\' b' dbname=`,
	`host=pg-a\`,
	`host=a\ pgryw.route=off`,
	"user= pgryw.route=off",
	"host='pg-a'pgryw.route='off'user=u",
	"pgryw.route='off'postgres://pg-a=1",
	"pgryw.route=auto pgryw.route=off PGRYW.x=1",
	"pgryw.wait=0 pgryw.mode=strict pgryw.max_staleness=0s pgryw.max_fallback=00 pgryw.monotonic=off pgryw.resolve=0.5m",
	"pgryw.capture_timeout=1.5us pgryw.pool_max_conns=+5 pgryw.pool_ping_timeout=-0",
	"pgryw.capture_timeout=0 target_session_attrs=standby",
	"registeredConnConfig0",
	"service=x",
	"options='-c pgryw.x=1' search_path=\"a,b\"",
}

// FuzzParseDSN holds ParseDSN against pgx's own parser.
func FuzzParseDSN(f *testing.F) {
	isolate(f)
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dsn string) { checkAgainstPgx(t, dsn) })
}

// The pieces of connection strings, put together at random, reach further into
// the two grammars than bytes do.
func TestStringsMadeOfPiecesMeanToUsWhatTheyMeanToPgx(t *testing.T) {
	isolate(t)
	pieces := []string{
		"postgres://", "host", "port", "user", "pgryw.route", "pgryw.probe", "pgryw%2escope", "%", "%25", "\\", "'",
		"a", "b", "1", "off", "1s", "conn", "=", "=", "=", " ", " ", "\n", "&", "&", "?", "?", "/", "@", ":", ",", "[", "]",
		" pgryw.route=off ", "&pgryw.probe=1s", "?pgryw.scope=conn&", "=a", "pgryw.route='off'",
	}
	random := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 3_000 {
		dsn := ""
		if random.IntN(2) == 0 {
			dsn = pieces[0]
		}
		for range random.IntN(12) {
			dsn += pieces[random.IntN(len(pieces))]
		}
		if checkAgainstPgx(t, dsn) {
			valid++
		}
	}
	if valid < 300 {
		t.Errorf("only %d strings were valid", valid)
	}
}

// checkAgainstPgx tells that ParseDSN takes what pgx takes, with the same hosts,
// TLS and parameters, that it reads the options as pgx does, and that what it
// takes comes back from FormatDSN. It reports whether it was taken.
func checkAgainstPgx(t *testing.T, dsn string) bool {
	t.Helper()
	if readsFiles(dsn) {
		return false
	}
	whole, pgxErr := pgx.ParseConfig(dsn)
	c, err := ParseDSN(dsn)
	if err != nil {
		checkSilent(t, err, "secret")
		if pgxErr == nil && wantsPrimary(whole.ValidateConnect) && !hasOptions(whole) {
			t.Fatalf("%q: pgx takes it: %v", dsn, err)
		}
		return false
	}
	if pgxErr != nil {
		t.Fatalf("%q: pgx does not take it: %v", dsn, pgxErr)
	}

	// The options, by pgx's reading of the whole.
	want := &Config{Postgres: c.Postgres}
	for key, value := range whole.RuntimeParams {
		if isOurs(key) {
			if err := want.setOption(setting{key: key, value: value}); err != nil {
				t.Fatalf("%q: %v", dsn, err)
			}
		}
	}
	if !equal(c, want) {
		t.Fatalf("%q: got %+v, want %+v", dsn, c, want)
	}

	// What is left for pgx.
	rest, err := pgx.ParseConfig(c.Postgres)
	if err != nil || hasOptions(rest) {
		t.Fatalf("%q: %q is left: %v", dsn, c.Postgres, err)
	}
	if got, want := describe(t, c.Postgres), describe(t, dsn); got != want {
		t.Fatalf("%q: pgx is left with %q:\n%s\nwant\n%s", dsn, c.Postgres, got, want)
	}
	checkHosts(t, c, whole)
	checkComesBack(t, c)
	return true
}

// FuzzFormatDSN tells that every valid Config comes back from its string,
// whatever pgx is given.
func FuzzFormatDSN(f *testing.F) {
	isolate(f)
	for i, seed := range seeds {
		f.Add(seed, uint8(i), int64(i)*int64(time.Second)/7, int32(i))
		f.Add(seed, uint8(0), int64(0), int32(0))
	}
	f.Fuzz(func(t *testing.T, postgres string, word uint8, duration int64, count int32) {
		if readsFiles(postgres) {
			return
		}
		c := &Config{
			Postgres:                  postgres,
			Route:                     router.Route(word % 5),
			Scope:                     router.Scope(word / 5 % 3),
			ReadOnlyTx:                router.ReadOnlyTx(word / 15 % 3),
			Volatile:                  router.Volatile(word / 45 % 3),
			CaptureTimeout:            time.Duration(duration),
			Probe:                     time.Duration(duration >> 10),
			PoolMaxConns:              count,
			PoolMinConns:              count / 2,
			PoolMaxConnLifetime:       time.Duration(duration >> 20),
			PoolMaxConnLifetimeJitter: time.Duration(duration >> 40),
		}
		if err := c.validate(); err != nil {
			checkSilent(t, err, "secret")
			if back, err := ParseDSN(c.FormatDSN()); err == nil && equal(back, c) {
				t.Fatalf("%+v is not valid, but comes back", c)
			}
			return
		}
		checkComesBack(t, c)

		whole, err := pgx.ParseConfig(c.FormatDSN())
		if err != nil {
			t.Fatalf("%+v: pgx does not take %q: %v", c, c.FormatDSN(), err)
		}
		if got, want := describe(t, c.FormatDSN()), describe(t, postgres); got != want {
			t.Fatalf("%+v: pgx is left with\n%s\nwant\n%s", c, got, want)
		}
		checkHosts(t, c, whole)
	})
}

func checkComesBack(t *testing.T, c *Config) {
	t.Helper()
	dsn := c.FormatDSN()
	if back, err := ParseDSN(dsn); err != nil || !equal(back, c) {
		t.Fatalf("%+v comes back from %q as %+v, %v", c, dsn, back, err)
	}
}

// checkHosts tells that the hosts try, all together, the addresses that plain
// pgx would, each with the same TLS.
func checkHosts(t *testing.T, c *Config, whole *pgx.ConnConfig) {
	t.Helper()
	hosts, err := c.hosts()
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	var got []string
	for _, h := range hosts {
		if hasOptions(h.config) || h.config.ValidateConnect != nil || h.config.Password != whole.Password ||
			describeRest(h.config) != describeRest(whole) {
			t.Fatalf("%+v: %s: got\n%swant\n%s", c, h.label, describeRest(h.config), describeRest(whole))
		}
		got = append(got, strings.SplitAfter(describeHosts(h.config), "\n")...)
	}
	// Hosts that are named twice are there once.
	want := strings.SplitAfter(describeHosts(whole), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if got, want := slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Fatalf("%+v: got addresses\n%q\nwant\n%q", c, got, want)
	}
}

func hasOptions(config *pgx.ConnConfig) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(config.RuntimeParams)), isOurs)
}

// readsFiles reports whether pgx might open a file by a name that the fuzzer has
// made up, which could be a device.
func readsFiles(dsn string) bool {
	return strings.Contains(dsn, "/dev/") || strings.Contains(dsn, "/proc/")
}
