package driver_test

import (
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestArgumentsOfPgxReachPgx passes what only pgx knows, ahead of the arguments
// and among them, to a replica and to the primary, and compares the values with
// those that pgx's own driver returns.
func TestArgumentsOfPgxReachPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	const (
		onReplica = `SELECT n FROM counter WHERE id = 'calm' AND `
		onPrimary = `SELECT n FROM counter WHERE pg_backend_pid() > 0 AND id = 'calm' AND `
	)
	type query struct {
		text string
		args []any
	}
	queries := []query{
		{`7 = $1`, []any{pgx.QueryExecModeSimpleProtocol, 7}},
		{`7 = $1`, []any{pgx.QueryExecModeExec, 7}},
		{`7 = $1`, []any{pgx.QueryExecModeDescribeExec, 7}},
		{`7 = $1`, []any{pgx.QueryExecModeCacheDescribe, 7}},
		{`7 = $1`, []any{pgx.QueryResultFormats{pgx.TextFormatCode}, 7}},
		{`7 = $1`, []any{pgx.QueryResultFormatsByOID{pgtype.Int8OID: pgx.BinaryFormatCode}, 7}},
		{`7 = $1`, []any{pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.TextFormatCode}, 7}},
		{`7 = @seven AND 8 <> @seven`, []any{pgx.NamedArgs{"seven": 7}}},
		{`7 = @seven`, []any{pgx.StrictNamedArgs{"seven": 7}}},
		{`7 = @seven`, []any{pgx.QueryExecModeSimpleProtocol, pgx.NamedArgs{"seven": 7}}},
		{`7 = ANY ($1)`, []any{[]int32{6, 7}}},
		{`'b' = ANY ($1)`, []any{[]string{"a", "b"}}},
		{`$1::jsonb = '{"a": 1}'`, []any{map[string]int{"a": 1}}},
		{`$1::numeric > 0`, []any{pgtype.Numeric{Valid: true, Int: nil}}},
		{`$1::text IS NULL`, []any{(*string)(nil)}},
		{`$1::text IS NULL`, []any{pgtype.Text{}}},
		{`$1::text IS NULL`, []any{sql.NullString{}}},
		{`7 = @missing`, []any{pgx.StrictNamedArgs{"seven": 7}}},
		{`7 = $1`, nil},
	}
	onBoth(t, c, func(t *testing.T, db *sql.DB) (said []string) {
		t.Helper()
		for _, q := range queries {
			for _, prefix := range []string{onReplica, onPrimary} {
				var n int64
				err := db.QueryRowContext(t.Context(), prefix+q.text, q.args...).Scan(&n)
				said = append(said, say(prefix+q.text, err))
				result, err := db.ExecContext(t.Context(), `UPDATE counter SET n = n WHERE id = 'calm' AND `+q.text, q.args...)
				said = append(said, say("UPDATE "+q.text, err))
				if err == nil {
					affected, err := result.RowsAffected()
					said = append(said, say(fmt.Sprint(affected, " rows"), err))
				}
			}
		}
		return said
	})
}

// TestValuesAreThoseOfPgx reads values of many types, from a replica and from
// the primary, with and without arguments, in every exec mode.
func TestValuesAreThoseOfPgx(t *testing.T) {
	t.Parallel()
	c := startCalm(t)
	const values = `SELECT n, id, true AS t, 1.5::numeric, 2.5::float8, 3::int2, '\x0102'::bytea, DATE '2024-02-29',
		TIMESTAMPTZ '2024-02-29 12:00:00+00', TIMESTAMP '2024-02-29 12:00:00', TIME '12:00', INTERVAL '1 day 2 hours',
		ARRAY[1,2]::int4[], ARRAY['a','b'], '{"a": [1]}'::jsonb, '{}'::json, '10.0.0.1'::inet, int4range(1, 5), NULL::int,
		'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, B'101', point(1, 2), 'x'::"char"
		FROM counter WHERE id = 'fixed' `
	run(t, c, `INSERT INTO counter VALUES ('fixed', 42)`)
	catchUp(t, c)
	onBoth(t, c, func(t *testing.T, db *sql.DB) (said []string) {
		t.Helper()
		for _, mode := range []any{
			nil, pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
			pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
		} {
			var first []any
			if mode != nil {
				first = []any{mode}
			}
			for _, end := range []string{``, `AND pg_backend_pid() > 0`, `FOR SHARE`} {
				said = append(said,
					rowsText(t, db, values+end, first),
					rowsText(t, db, values+`AND n = $1 `+end, append(first, 42)))
			}
		}
		return said
	})
}

// rowsText returns columns, their types and values.
func rowsText(t *testing.T, db *sql.DB, text string, args []any) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text, args...)
	if err != nil {
		return say(text, err)
	}
	defer rows.Close()
	said := text
	types, err := rows.ColumnTypes()
	if err != nil {
		return say(text, err)
	}
	cells := make([]any, len(types))
	for i, c := range types {
		length, hasLength := c.Length()
		precision, scale, hasScale := c.DecimalSize()
		nullable, hasNull := c.Nullable()
		said += fmt.Sprintln(c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, precision, scale, hasScale, nullable, hasNull)
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return say(text, err)
		}
		for _, c := range cells {
			v := reflect.ValueOf(c).Elem().Interface()
			said += fmt.Sprintf("%T %v\n", v, v)
		}
	}
	return said + say("", rows.Err())
}
