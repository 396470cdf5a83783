package router

// syntax is what a word before parentheses is if it is no function's name.
type syntax uint8

const (
	syntaxNone      syntax = iota // it may be a function's name
	syntaxPlain                   // a keyword
	syntaxOdd                     // a keyword whose parentheses an expression may follow
	syntaxConstruct               // a keyword of newer servers, a function's name of older ones
	syntaxCast                    // TREAT, which calls a function that is named like a type
)

// syntaxOf tells the keywords before parentheses from names. Reserved words, and
// those that only name columns, are never a function's; others are keywords in
// their places only.
//
// Source: src/include/parser/kwlist.h and src/backend/parser/gram.y of
// PostgreSQL 13 to 18.
func (c *classifier) syntaxOf(word []byte) syntax {
	switch string(word) {
	case "on":
		return syntaxOdd
	case "treat":
		return syntaxCast
	case "json", "json_array", "json_arrayagg", "json_exists", "json_object", "json_objectagg", "json_query",
		"json_scalar", "json_serialize", "json_table", "json_value", "merge_action":
		return syntaxConstruct
	case "between", "bigint", "bit", "boolean", "char", "character", "coalesce", "dec", "decimal", "exists",
		"extract", "float", "greatest", "grouping", "int", "integer", "interval", "least", "national", "nchar",
		"none", "nullif", "numeric", "real", "row", "smallint", "time", "timestamp", "trim", "values", "varchar",
		"xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse",
		"xmlpi", "xmlroot", "xmlserialize", "xmltable":
		return syntaxPlain
	}
	if reserved(word) || c.placed(word) {
		return syntaxPlain
	}
	if string(word) == "operator" && c.operand(2) {
		return syntaxOdd
	}
	return syntaxNone
}

// reserved reports whether a word is reserved. FOR, INTO and WITH have kinds of
// their own.
func reserved(word []byte) bool {
	switch string(word) {
	case "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast",
		"check", "collate", "column", "constraint", "create", "default", "deferrable", "desc", "distinct", "do",
		"else", "except", "fetch", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect",
		"lateral", "leading", "limit", "not", "offset", "on", "only", "or", "order", "placing", "primary",
		"references", "returning", "select", "some", "symmetric", "table", "then", "to", "trailing", "union",
		"unique", "using", "variadic", "when", "where", "window":
		return true
	}
	return value(word)
}

// value reports whether a reserved word may end an expression.
func value(word []byte) bool {
	switch string(word) {
	case "current_catalog", "current_date", "current_role", "current_time", "current_timestamp", "current_user",
		"end", "false", "localtime", "localtimestamp", "null", "session_user", "true", "user":
		return true
	}
	return false
}

// placed reports whether a word that may name a function is a keyword in its
// place, where a server would accept no function.
func (c *classifier) placed(word []byte) bool {
	before := c.back(2)
	switch string(word) {
	case "filter", "repeatable":
		return before.kind == kindClose && !c.closedOdd
	case "over":
		return before.kind == kindClose && !c.closedOdd || c.is(before, "nulls")
	case "by":
		return c.is(before, "group") || c.is(before, "order") || c.is(before, "partition")
	case "sets":
		return c.is(before, "grouping")
	case "rollup", "cube":
		return c.is(before, "by") && c.is(c.back(3), "group")
	case "materialized":
		return c.is(before, "as") || c.is(before, "not") && c.is(c.back(3), "as")
	case "zone":
		return c.is(before, "time")
	case "first", "next":
		return c.is(before, "fetch")
	case "varying":
		return c.is(before, "character") || c.is(before, "char") || c.is(before, "nchar") || c.is(before, "bit")
	case "join", "ilike", "columns":
		return c.operand(2)
	}
	return false
}

// operand reports whether the n-th token back ends an expression or the name of
// a table, behind which no function is called.
func (c *classifier) operand(n uint) bool {
	t := c.back(n)
	switch t.kind {
	case kindQuoted, kindString, kindNumber, kindSystem:
		return true
	case kindClose:
		return !c.closedOdd
	case kindWord:
		var buf [nameLimit]byte
		word := fold(&buf, c.textOf(t))
		return c.last(n+1) == kindDot || value(word) || !reserved(word) && !introduces(word)
	}
	return false
}

// introduces reports whether an expression, or the call of a function in its
// place, may follow a word that is not reserved.
func introduces(word []byte) bool {
	switch string(word) {
	case "between", "by", "call", "columns", "content", "document", "escape", "explain", "first", "groups",
		"ilike", "is", "join", "key", "like", "name", "next", "operator", "overlaps", "passing", "path", "range",
		"rows", "set", "similar", "standalone", "tablesample", "value", "values", "verbose", "version", "zone":
		return true
	}
	return false
}
