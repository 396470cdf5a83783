package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func TestATextThatIsAnotherAsAParseStaysAQuery(t *testing.T) {
	config := realServer(t)
	for _, sql := range []string{
		"select $1", "select 'it''s' where $2 = 1", "select 1\x00", "select\x001",
	} {
		plain := execPath(sql)(t.Context(), plainConnect(t, config(pgx.QueryExecModeExec)))
		c, rec := recorded(t, config(pgx.QueryExecModeExec))
		rec.start()
		c.shim.Arm(Flight{AskXID: AskBehind, Extended: true})
		err := execPath(sql)(t.Context(), c)
		o := c.shim.Finish()
		text, _ := rec.stop()
		if codeOf(err) != codeOf(plain) || o.XID == XIDNone {
			t.Errorf("%q: got %v, %+v, want %v", sql, err, o, plain)
		}
		if strings.Contains(text, "Parse") {
			t.Errorf("%q became\n%s", sql, text)
		}
	}
}

// codeOf returns the SQLSTATE of a server's error.
func codeOf(err error) string {
	var pgErr *pgconn.PgError
	errors.As(err, &pgErr)
	if pgErr == nil {
		return ""
	}
	return pgErr.Code
}

func TestATextWithDollarsIsStillAsked(t *testing.T) {
	c := realClient(t, pgx.QueryExecModeSimpleProtocol)
	for _, sql := range []string{"select $a$ $ $a$", "select '$'", "select '$1 it''s $2'", "select 1 as a$"} {
		o, err := one(t, c, Flight{AskXID: AskBehind, Extended: true}, execPath(sql))
		if err != nil || o.XID != XIDNone {
			t.Errorf("%q: got %v, %+v", sql, err, o)
		}
	}
}

func TestALargeTextThatBecomesAParseIsNotKept(t *testing.T) {
	l := newLine()
	l.shim.Arm(Flight{AskXID: AskBehind, Extended: true})
	l.send(t, encode(&pgproto3.Query{String: "select '" + strings.Repeat("x", 1<<20) + "'"}))
	if got := cap(l.shim.buf); got > keptBytes {
		t.Errorf("the Shim keeps %d bytes", got)
	}
}
