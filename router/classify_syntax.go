package router

// syntax is what a word is to the grammar, if it is more than a name.
type syntax uint16

const (
	syntaxReserved   syntax = 1 << iota // reserved
	syntaxValue                         // as syntaxReserved, but may end an expression
	syntaxIntroduces                    // not reserved, but an expression or a call may follow
	syntaxPlaced                        // before parentheses, a keyword in its place only
	syntaxPlain                         // before parentheses, a keyword
	syntaxOdd                           // before parentheses, a keyword; an expression may follow these
	syntaxConstruct                     // before parentheses, a keyword of newer servers, a function's name of older ones
	syntaxCast                          // TREAT, which calls a function that is named like a type
)

// syntaxCalls are those of which a word is one before parentheses.
const syntaxCalls = syntaxPlain | syntaxOdd | syntaxConstruct | syntaxCast

// syntaxWords are the words of each syntax. FOR, INTO and WITH have kinds of their
// own.
//
// Source: src/include/parser/kwlist.h and src/backend/parser/gram.y of
// PostgreSQL 13 to 18.
var syntaxWords = []struct {
	syntax syntax
	words  string
}{
	{syntaxReserved, `
		all analyse analyze and any array as asc asymmetric both case cast check collate column constraint
		create default deferrable desc distinct do else except fetch foreign from grant group having in
		initially intersect lateral leading limit not offset on only or order placing primary references
		returning select some symmetric table then to trailing union unique using variadic when where window`},
	{syntaxReserved | syntaxValue, `
		current_catalog current_date current_role current_time current_timestamp current_user end false
		localtime localtimestamp null session_user true user`},
	{syntaxIntroduces, `
		between by call columns content document escape explain first groups ilike is join key like name next
		operator overlaps passing path range rows set similar standalone tablesample value values verbose
		version zone`},
	{syntaxPlaced, `
		filter repeatable over by sets rollup cube materialized zone first next varying join ilike columns
		operator`},
	{syntaxPlain, `
		between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping
		int integer interval least national nchar none nullif numeric real row smallint time timestamp trim
		values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi
		xmlroot xmlserialize xmltable`},
	{syntaxConstruct, `
		json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar
		json_serialize json_table json_value merge_action`},
	{syntaxOdd, `on`},
	{syntaxCast, `treat`},
}

// syntaxOf tells the keywords before parentheses from names. Reserved words, and
// those that only name columns, are never a function's; others are keywords in
// their places only. It returns one of syntaxCalls, or zero for a name.
func (c *classifier) syntaxOf(k *known) syntax {
	switch {
	case k.syntax == 0:
		return 0
	case k.syntax&syntaxCalls != 0:
		return k.syntax & syntaxCalls
	case k.syntax&syntaxReserved != 0:
		return syntaxPlain
	case k.syntax&syntaxPlaced == 0:
		return 0
	case k.name == "operator":
		if c.operand(2) {
			return syntaxOdd
		}
	case c.placed(k.name):
		return syntaxPlain
	}
	return 0
}

// placed reports whether a word that may name a function is a keyword in its
// place, where a server would accept no function.
func (c *classifier) placed(word string) bool {
	before := c.back(2)
	switch word {
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
		is := names.look(fold(&buf, c.textOf(t))).syntax
		return c.last(n+1) == kindDot || is&syntaxValue != 0 || is&(syntaxReserved|syntaxIntroduces) == 0
	}
	return false
}
