package conn

import (
	"context"
	sqldriver "database/sql/driver"
	"testing"

	"github.com/jackc/pgx/v5"
)

type rewriter struct{}

func (rewriter) RewriteQuery(context.Context, *pgx.Conn, string, []any) (string, []any, error) {
	return "", nil, nil
}

// TestARewriterIsSeenWherePgxLooksForOne puts arguments in all the orders that
// pgx takes: of several rewriters it uses the last.
func TestARewriterIsSeenWherePgxLooksForOne(t *testing.T) {
	names := pgx.NamedArgs{"a": 1}
	for i, tt := range []struct {
		args []any
		want bool
	}{
		{nil, false},
		{[]any{1, rewriter{}}, false}, // no option any more
		{[]any{rewriter{}}, true},
		{[]any{names}, false},
		{[]any{pgx.StrictNamedArgs(names)}, false},
		{[]any{names, rewriter{}}, true},
		{[]any{pgx.QueryExecModeExec, pgx.QueryResultFormats{1}, pgx.QueryResultFormatsByOID{25: 1}, rewriter{}, 1}, true},
		{[]any{pgx.QueryExecModeExec, "a"}, false},
	} {
		args := make([]sqldriver.NamedValue, len(tt.args))
		for j, arg := range tt.args {
			args[j] = sqldriver.NamedValue{Ordinal: j + 1, Value: arg}
		}
		if got := rewritten(args); got != tt.want {
			t.Errorf("case %d: got %t, want %t", i, got, tt.want)
		}
	}
}
