package router

// place is where in a query a name stands: what came before it says whether
// parentheses behind it make it a call.
type place struct {
	depth int
	// dml is set in a statement that has a SET clause.
	dml bool
	// ctes is set between WITH and the query that it serves: names at depth 0
	// are those of common table expressions, with lists of columns.
	ctes bool
	// typed is set behind :: and AS: the name is a type's or an alias'.
	typed bool
	// target is set behind INSERT INTO: the name is a table's.
	target bool
	// qualified is set behind a point; foreign if the schema is not pg_catalog.
	qualified, foreign bool

	before, last mark // the tokens before the present one, and that one
}

// mark is what is remembered of a token.
type mark uint8

const (
	markNone mark = iota
	markOther
	markName  // a name that means nothing here
	markPoint // .
	markCatalog
	markClose    // )
	markGroup    // GROUP
	markOrder    // ORDER, PARTITION
	markGroupBy  // GROUP BY
	markOn       // ON
	markNot      // NOT
	markAs       // AS
	markGrouping // GROUPING
	markInto     // INTO
)

// enter takes in the token that becomes the present one.
func (p *place) enter(t token, word []byte) {
	p.before = p.last
	p.last = markOther
	switch t.kind {
	case kindQuoted:
		p.last = markName
		if t.text == "pg_catalog" {
			p.last = markCatalog
		}
	case kindWord:
		p.last = p.markOf(word)
	case kindCast:
		p.typed = true
	case kindSign:
		p.signed(t.sign)
	}
	if p.last == markPoint {
		p.qualified = true
		p.foreign = p.before != markCatalog
	}
}

func (p *place) signed(sign byte) {
	switch sign {
	case '(':
		if p.depth == 0 && p.before == markClose {
			p.ctes = false // not those of an AS: the query begins
		}
		p.depth++
	case ')':
		p.depth--
		p.last = markClose
	case '.':
		p.last = markPoint
	}
}

func (p *place) markOf(word []byte) mark {
	switch string(word) {
	case "pg_catalog":
		return markCatalog
	case "group":
		return markGroup
	case "order", "partition":
		return markOrder
	case "by":
		if p.before == markGroup {
			return markGroupBy
		}
	case "on":
		return markOn
	case "not":
		return markNot
	case "grouping":
		return markGrouping
	case "as":
		p.typed = true
		return markAs
	case "into":
		p.target = true
		return markInto
	case "with":
		if p.depth == 0 {
			p.ctes = true
		}
	case "select", "insert", "update", "delete", "merge", "values", "table":
		if p.depth == 0 {
			p.ctes = false
		}
	}
	return markName
}

// inert reports whether the present name, with parentheses behind it, is none
// of a function.
func (p *place) inert() bool {
	return p.last == markName && (p.typed || p.target || p.ctes && p.depth == 0)
}

// leave takes leave of the present token: what was said of a name behind it
// ends with the name.
func (p *place) leave(t token) {
	if p.last == markPoint || p.last == markCatalog {
		return
	}
	if t.kind != kindCast && p.last != markAs {
		p.typed = false
	}
	if p.last != markInto {
		p.target = false
	}
	p.qualified, p.foreign = false, false
}

// syntax reports whether a word that may name a function is a keyword in this
// place.
func (p *place) syntax(name []byte) bool {
	switch string(name) {
	case "over", "filter":
		return p.before == markClose
	case "by":
		return p.before == markGroup || p.before == markOrder
	case "set":
		return p.dml && p.before == markName
	case "sets":
		return p.before == markGrouping
	case "rollup", "cube":
		return p.before == markGroupBy
	case "materialized":
		return p.before == markAs || p.before == markNot
	case "conflict":
		return p.before == markOn
	}
	return false
}
