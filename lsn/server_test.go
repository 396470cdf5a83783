package lsn_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/lsn"
)

// askServer returns what the server reads in text. It accepts a text or
// answers with an error of class 22, data exception: anything else ends the
// test.
func askServer(ctx context.Context, t *testing.T, conn *pgx.Conn, text string) (lsn.LSN, bool) {
	t.Helper()
	var bytes uint64
	err := conn.QueryRow(ctx, "SELECT ($1::text::pg_lsn - '0/0')::text::numeric", text).Scan(&bytes)
	if pgErr := (*pgconn.PgError)(nil); errors.As(err, &pgErr) && strings.HasPrefix(pgErr.Code, "22") {
		return 0, false
	}
	if err != nil {
		t.Fatalf("the server on %q: %v", text, err)
	}
	return lsn.LSN(bytes), true
}

func agreeWithServer(ctx context.Context, t *testing.T, conn *pgx.Conn, text string) {
	t.Helper()
	want, accepted := askServer(ctx, t, conn, text)
	got, err := lsn.Parse(text)
	if (err == nil) != accepted || got != want {
		t.Errorf("Parse(%q) = %v, %v; the server: %v, accepted %v", text, got, err, want, accepted)
	}
}

func connect(t testing.TB, c *pgcluster.Cluster) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func FuzzParseAgainstServer(f *testing.F) {
	conn := connect(f, pgcluster.New(f, pgcluster.Options{}))
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		agreeWithServer(t.Context(), t, conn, text)
	})
}

// nearLSN returns a text that is an LSN, or nearly one.
func nearLSN(rng *rand.Rand) string {
	const digits, others = "0123456789abcdefABCDEF", "/ gx-+_.\\\t\n\x00\u0661"
	var b []byte
	half := func() {
		for range rng.IntN(10) {
			b = append(b, digits[rng.IntN(len(digits))])
		}
	}
	half()
	b = append(b, '/')
	half()
	for range rng.IntN(2) {
		b = slices.Insert(b, rng.IntN(len(b)+1), others[rng.IntN(len(others))])
	}
	return string(b)
}

func TestParseAgreesWithTheServer(t *testing.T) {
	conn := connect(t, pgcluster.New(t, pgcluster.Options{}))
	rng := rand.New(rand.NewPCG(19, 18))
	accepted := 0
	for range 4000 {
		text := nearLSN(rng)
		agreeWithServer(t.Context(), t, conn, text)
		if _, err := lsn.Parse(text); err == nil {
			accepted++
		}
	}
	if accepted < 1000 || accepted > 3000 {
		t.Errorf("%d of 4000 texts are LSNs, this shows little", accepted)
	}
}

func TestLSNsGoThroughPgxAndDatabaseSQL(t *testing.T) {
	ctx := t.Context()
	c := pgcluster.New(t, pgcluster.Options{})
	want := lsn.LSN(0x16_B374D848)

	conn := connect(t, c)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var got lsn.LSN
		if err := conn.QueryRow(ctx, "SELECT $1::pg_lsn", mode, want).Scan(&got); err != nil || got != want {
			t.Errorf("pgx, %v: %v, %v, want %v", mode, got, err, want)
		}
	}

	db, err := sql.Open("pgx", c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got lsn.LSN
	if err := db.QueryRowContext(ctx, "SELECT $1::pg_lsn", want).Scan(&got); err != nil || got != want {
		t.Errorf("database/sql: %v, %v, want %v", got, err, want)
	}

	const null = "SELECT pg_last_wal_replay_lsn()" // NULL on a server that never recovered
	if err := db.QueryRowContext(ctx, null).Scan(&got); err == nil || got != want {
		t.Errorf("a NULL was scanned into an LSN as %v", got)
	}
	var maybe sql.Null[lsn.LSN]
	if err := db.QueryRowContext(ctx, null).Scan(&maybe); err != nil || maybe.Valid {
		t.Errorf("a NULL was scanned into a Null as %v, %v", maybe, err)
	}
}
