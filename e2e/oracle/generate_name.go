package oracle

// plainNames may name anything; many are keywords that are not reserved, or
// stand for something else in another place.
var plainNames = []string{
	"a", "b", "t", "u", "x", "job", "key", "value", "type", "name", "data", "first", "zone", "path", "range", "no", "share",
	"filter", "over", "a$b", "é", "_1", "materialized", "set", "columns", "temp", "rows", "escape", "update", "delete", "insert", "merge", "by", "next", "recursive", "ordinality", "within", "sets", "rollup", "cube", "operator", "explain", "do_it",
	"copy", "call", "begin", "commit", "lock", "nowait", "skip", "locked", "returning_",
}

// calmNames is how many of plainNames a usual read has.
const calmNames = 26

// quotedNames are names in quotes.
var quotedNames = []string{
	`"for"`, `"update"`, `"select"`, `"into"`, `"a b"`, `"a""b"`, `"a;b"`, `"--"`, `"/*"`, `"'"`, `"in"`, `"With"`, `"$$"`,
}

// attributeNames stand behind a point; any word may.
var attributeNames = []string{
	"a", "b", "oid", "for", "into", "update", "insert", "with", "select", "pg_advisory_lock", "pg_terminate_backend", "setseed",
	"pg_relation_size", `"pg_advisory_lock"`, "PG_ADVISORY_LOCK", "nextval",
}

// calmAttributes is how many of attributeNames a usual read has.
const calmAttributes = 5

// functionNames are called; some by the server's own syntax only, which the
// parser then refuses.
var functionNames = []string{
	"lower", "upper", "count", "sum", "max", "abs", "length", "now", "random", "left", "right", "pg_sleep", "jsonb_agg",
	"pg_catalog.lower", "pg_catalog . upper", `"lower"`, `pg_catalog."lower"`, `"pg_catalog".lower`, "generate_series",
	"coalesce", "greatest", "nullif", "row", "overlay", "substring", "position", "json_object", "normalize",
	"version", "pg_backend_pid", "pg_is_in_recovery", "current_setting", "pg_relation_size",
	"nextval", "setval", "pg_advisory_lock", "pg_try_advisory_lock", "pg_advisory_xact_lock", "pg_notify", "set_config",
	"pg_terminate_backend", `"pg_advisory_lock"`, "pg_catalog.pg_advisory_lock", "PG_Advisory_Lock", "txid_current",
	"do_it", "public.do_it", "other.lower", `"Lower"`, "app.public.do_it", `"in"`, `"do ""it"""`, "pg_unheard_of",
	"join", "ilike", "similar", "is", "isnull", "natural", "cross", "freeze", "verbose", "overlaps", "binary",
	"collation", "concurrently", "full", "inner", "outer", "like", "notnull", "tablesample", "authorization",
	"filter", "over", "by", "first", "next", "sets", "rollup", "cube", "materialized", "zone", "operator", "columns",
	"range", "rows", "groups", "key", "value", "replace", "format", "normalized", "within", "ordinality", "path",
	"repeatable", "update", "delete", "insert", "merge", "share", "no", "temp", "include", "begin", "set", "session",
	"json", "json_array", "json_value", "json_query", "values",
	"xmlforest", "grouping", "trim", "extract", "treat", "merge_action",
	"interval", "time", "timestamp", "char", "character", "numeric", "int", "float", "bit", "varchar", "boolean",
}

// calmFunctions is how many of functionNames a usual read has.
const calmFunctions = 27

// relationNames are read from.
var relationNames = []string{
	"t", "u", "public.t", "job", `"for"`, "pg_class", "pg_catalog.pg_class", "information_schema.tables", "pg_stats",
	"app.public.t", "pg_stat_activity",
	"pg_catalog.pg_locks", `"pg_settings"`, "pg_temp.w", "pg_sequences", "PG_STAT_USER_TABLES",
	"update", "delete", "materialized", "ordinality", "lateral_", "only_",
}

// calmRelations is how many of relationNames a usual read has.
const calmRelations = 10

// typeNames are cast to.
var typeNames = []string{
	"int", "text", "numeric(10, 2)", "varchar(3)", "character varying (3)", "char(1)", "bit varying(2)", "double precision",
	"timestamp with time zone", "timestamp(3) without time zone", "time (0)", "interval day to second(2)", "int[]", "int[3][]",
	"text array", "public.mood", "my_type(1, 2)", "pg_catalog.int4", "jsonb", "regclass", "float(8)", "pg_temp.w", `"char"`,
	"json", "national character (3)", "setof_", "interval (3)",
}

// name writes a name for a column, a table or an alias.
func (g *Generator) name() {
	if g.one(8) {
		g.raw(g.pick(quotedNames...))
		return
	}
	g.say(g.among(calmNames, plainNames))
}

func (g *Generator) names() { g.inside(func() { g.list(g.name) }) }

func (g *Generator) typeName() { g.raw(g.pick(typeNames...)) }

// literal writes a constant, or a parameter.
func (g *Generator) literal() {
	g.raw(g.pick(
		"1", "1.5", ".5", "1e10", "1.", "0x1F", "1_000", "$1", "$2", "null", "true", "current_date", "current_timestamp(3)",
		"'a'", "''", "'it''s'", "'for update'", "'; DELETE FROM t'", "'--'", "'/*'", "'$$'", `'"'`, "'a'\n'b'", "'a' -- c\n 'b'",
		`E'\''`, `e'\\'`, `E'a\'; DELETE FROM t; --'`, `E'a''b'`, `E'\\\''`, "E'a'\n'\\''", `U&'d\0061t'`, `U&'d!0061t' UESCAPE '!'`,
		"B'01'", "X'1F'", "b'0'", "N'a'", "$$a$$", "$$ ; DELETE FROM t $$", "$a$ $$ $b$ $a$", "$a$'$a$", "$é$ $ $é$", "$_1$--$_1$",
		"date '2024-01-01'", "interval '1 day'", "interval(3) '1 s'", "timestamp '2024-01-01 00:00'", "numeric(3,1) '1.5'", "'é'",
		"array[1, 2]", "row(1, 2)", "'a' 'b'", `'\'`, `'a\\'`,
	))
}
