package conn

import (
	sqldriver "database/sql/driver"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func iface[T any]() reflect.Type { return reflect.TypeFor[T]() }

// interfaces are those that database/sql, and tools above it, look for.
var interfaces = []reflect.Type{
	iface[sqldriver.Conn](),
	iface[sqldriver.ConnBeginTx](),
	iface[sqldriver.ConnPrepareContext](),
	iface[sqldriver.Execer](), //nolint:staticcheck // deprecated, and so not to be implemented
	iface[sqldriver.ExecerContext](),
	iface[sqldriver.NamedValueChecker](),
	iface[sqldriver.Pinger](),
	iface[sqldriver.Queryer](), //nolint:staticcheck // deprecated, and so not to be implemented
	iface[sqldriver.QueryerContext](),
	iface[sqldriver.SessionResetter](),
	iface[sqldriver.Validator](),
	iface[interface{ Conn() *pgx.Conn }](),
	iface[sqldriver.Stmt](),
	iface[sqldriver.StmtExecContext](),
	iface[sqldriver.StmtQueryContext](),
	iface[sqldriver.ColumnConverter](), //nolint:staticcheck // deprecated, and so not to be implemented
	iface[sqldriver.Tx](),
	iface[sqldriver.Rows](),
	iface[sqldriver.RowsColumnTypeDatabaseTypeName](),
	iface[sqldriver.RowsColumnTypeLength](),
	iface[sqldriver.RowsColumnTypeNullable](),
	iface[sqldriver.RowsColumnTypePrecisionScale](),
	iface[sqldriver.RowsColumnTypeScanType](),
	iface[sqldriver.RowsNextResultSet](),
}

// TestInterfacesAreThoseOfPgx records which interfaces each type has, beside
// the type of pgx's stdlib that it stands for. A lost one changes what users'
// programs do without a word.
func TestInterfacesAreThoseOfPgx(t *testing.T) {
	var b strings.Builder
	for _, pair := range []struct {
		name      string
		ours, pgx reflect.Type
	}{
		{"Conn", reflect.TypeFor[*Conn](), reflect.TypeFor[*stdlib.Conn]()},
		{"Stmt", reflect.TypeFor[*Stmt](), reflect.TypeFor[*stdlib.Stmt]()},
		{"Rows", reflect.TypeFor[*rows](), reflect.TypeFor[*stdlib.Rows]()},
	} {
		fmt.Fprintf(&b, "%s\n", pair.name)
		for _, i := range interfaces {
			ours, pgxs := pair.ours.Implements(i), pair.pgx.Implements(i)
			if ours || pgxs {
				fmt.Fprintf(&b, "  %-40s %s\n", i, who(ours, pgxs))
			}
		}
	}
	const file = "testdata/interfaces.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func who(ours, pgxs bool) string {
	switch {
	case ours && pgxs:
		return "both"
	case ours:
		return "pgryw only"
	}
	return "pgx only"
}

// TestRowsHaveEveryMethodOfPgxsRows holds for whatever a Go version adds, such
// as RowsColumnScanner.
func TestRowsHaveEveryMethodOfPgxsRows(t *testing.T) {
	ours, pgxs := reflect.TypeFor[*rows](), reflect.TypeFor[*stdlib.Rows]()
	for i := range pgxs.NumMethod() {
		m := pgxs.Method(i)
		if _, ok := ours.MethodByName(m.Name); !ok {
			t.Errorf("rows have no method %s", m.Name)
		}
	}
}
