package pgcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// texts returns the SQL of the statements.
func texts(t *testing.T, n *pgcluster.Node, since pgcluster.Mark) []string {
	t.Helper()
	statements, err := n.Statements(since)
	do(t, err)
	var sql []string
	for _, s := range statements {
		sql = append(sql, s.SQL)
	}
	return sql
}

func TestStatementsAreExactWhateverTheProtocol(t *testing.T) {
	c := startIn(t, pgcluster.Options{})
	ctx, n := t.Context(), c.Primary()
	conn := connect(t, n.DSN()+"&application_name=my%20app")
	mark := c.Mark()

	simple := "SELECT 1;\r\n\tSELECT 'LOG:  statement: x',\n\n\t\t2"
	if _, err := conn.PgConn().Exec(ctx, simple).ReadAll(); err != nil {
		t.Fatal(err)
	}
	unnamed := "SELECT $1::text -- é: \t\n"
	do(t, conn.PgConn().ExecParams(ctx, unnamed, [][]byte{[]byte("LOG:  statement: a\nb")}, nil, nil, nil).Read().Err)
	if _, err := conn.Prepare(ctx, "my name", "SELECT $1::int"); err != nil {
		t.Fatal(err)
	}
	var i int
	do(t, conn.QueryRow(ctx, "my name", 1).Scan(&i))
	long := "SELECT length('" + strings.Repeat("0123456789\n", 100_000) + "')"
	batch := &pgx.Batch{}
	batch.Queue(long)
	batch.Queue("SELECT 1 / (random() * 0)::int")
	batch.Queue("SELECT 'skipped'")
	if err := conn.SendBatch(ctx, batch).Close(); err == nil {
		t.Fatal("division by zero went well")
	}
	if _, err := conn.Exec(ctx, "SELEC"); err == nil {
		t.Fatal("a syntax error went well")
	}
	do(t, n.Exec(ctx, "SELECT 'by the package itself'"))

	got, err := n.Statements(mark)
	do(t, err)
	want := []struct{ prepared, sql string }{
		{"", simple}, {"<unnamed>", unnamed}, {"my name", "SELECT $1::int"}, {"stmtcache", long}, {"stmtcache", "SELECT 1 / (random() * 0)::int"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d statements, want %d: %.300q", len(got), len(want), got)
	}
	for i, s := range got {
		if s.SQL != want[i].sql || !strings.HasPrefix(s.Prepared, want[i].prepared) || (s.Prepared == "") != (want[i].prepared == "") {
			t.Errorf("statement %d: got %q %.100q, want %q %.100q", i, s.Prepared, s.SQL, want[i].prepared, want[i].sql)
		}
		if s.PID != int(conn.PgConn().PID()) || s.User != pgcluster.Superuser || s.Database != "postgres" || s.Application != "my app" {
			t.Errorf("statement %d: got %d %q %q %q", i, s.PID, s.User, s.Database, s.Application)
		}
	}
}

func TestStatementIsInTheLogOnceItsClientHasTheAnswer(t *testing.T) {
	c := startIn(t, pgcluster.Options{})
	conn := connect(t, c.Primary().DSN())
	for i := range 300 {
		mark := c.Mark()
		sql := fmt.Sprintf("SELECT %d", i)
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, c.Primary(), mark); !slices.Equal(got, []string{sql}) {
			t.Fatalf("got %q, want %q", got, sql)
		}
	}
}

func TestPortalExecutedInPiecesCountsOnce(t *testing.T) {
	c := startIn(t, pgcluster.Options{})
	conn := connect(t, c.Primary().DSN())
	mark := c.Mark()
	sql := "SELECT generate_series(1, 5)"
	frontend := conn.PgConn().Frontend()
	frontend.SendParse(&pgproto3.Parse{Query: sql})
	frontend.SendBind(&pgproto3.Bind{})
	frontend.SendExecute(&pgproto3.Execute{MaxRows: 2})
	frontend.SendExecute(&pgproto3.Execute{MaxRows: 2})
	frontend.SendSync(&pgproto3.Sync{})
	do(t, frontend.Flush())
	rows := 0
	for ready := false; !ready; {
		message, err := frontend.Receive()
		do(t, err)
		switch message.(type) {
		case *pgproto3.DataRow:
			rows++
		case *pgproto3.ReadyForQuery:
			ready = true
		}
	}
	if got := texts(t, c.Primary(), mark); rows != 4 || !slices.Equal(got, []string{sql}) {
		t.Errorf("got %d rows of %q, want 4 of %q", rows, got, sql)
	}
}

func TestRanNamesTheNodesThatExecutedAStatementSinceTheMark(t *testing.T) {
	c := startIn(t, pgcluster.Options{Standbys: 2, Setup: "CREATE TABLE t (i int)"})
	ran := func(since pgcluster.Mark, text string) []*pgcluster.Node {
		t.Helper()
		nodes, err := c.Ran(since, text)
		do(t, err)
		return nodes
	}
	ask(t, c.Primary(), "SELECT 'early'")
	mark := c.Mark()
	ask(t, c.Standby(0), "SELECT 'here'")
	ask(t, c.Standby(1), "SELECT 'here'")
	if got, want := ran(mark, "'here'"), []*pgcluster.Node{c.Standby(0), c.Standby(1)}; !slices.Equal(got, want) {
		t.Errorf("got %d nodes, want both standbys", len(got))
	}
	if got := ran(mark, "'early'"); got != nil {
		t.Errorf("got %s for a statement from before the mark", got[0].Name())
	}
	if got, want := ran(pgcluster.Mark{}, "'early'"), []*pgcluster.Node{c.Primary()}; !slices.Equal(got, want) {
		t.Errorf("got %d nodes since the beginning, want the primary", len(got))
	}
	// A standby refuses a write after it has begun to execute it.
	conn := connect(t, c.Standby(0).DSN())
	if _, err := conn.Exec(t.Context(), "INSERT INTO t VALUES (1)"); err == nil {
		t.Fatal("a standby took a write")
	}
	text, err := c.Standby(0).Log(mark)
	do(t, err)
	if want := "cannot execute INSERT in a read-only transaction"; !strings.Contains(text, want) {
		t.Errorf("log lacks %q:\n%s", want, text)
	}
}
