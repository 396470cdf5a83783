package oracle

// depthLimit bounds how deeply expressions and queries nest.
const depthLimit = 5

// expression writes an expression.
func (g *Generator) expression() {
	if g.depth > depthLimit {
		g.either(g.literal, g.name)
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	g.either(
		g.literal, g.literal, g.name, g.name, g.column, g.column, g.call, g.call, g.call,
		g.binary, g.binary, g.binary, g.cast, g.conditional, g.subquery, g.special,
		func() { g.inside(g.expression) },
		func() { g.say(g.pick("not", "-", "+", "@", "~", "|/", "!!")); g.expression() },
	)
}

// column writes a qualified name, or a field of a value.
func (g *Generator) column() {
	g.either(
		func() { g.name(); g.raw("."); g.raw(g.among(calmAttributes, attributeNames)) },
		func() { g.inside(g.expression); g.raw("."); g.raw(g.among(calmAttributes, attributeNames)) },
		func() {
			g.name()
			g.raw("[ 1 ]")
			g.perhaps(2, func() { g.raw("."); g.raw(g.among(calmAttributes, attributeNames)) })
		},
		func() { g.name(); g.raw(".*") },
	)
}

// call writes the call of a function.
func (g *Generator) call() {
	g.raw(g.among(calmFunctions, functionNames))
	g.inside(func() {
		switch g.random.IntN(12) {
		case 0:
		case 1:
			g.raw("*")
		case 2:
			g.say(g.pick("distinct", "all", "variadic"))
			g.list(g.expression)
		case 3:
			g.list(g.expression)
			g.say("order", "by")
			g.expression()
		case 4:
			g.say("a", g.pick(":=", "=>"))
			g.expression()
		default:
			g.list(g.expression)
		}
	})
	g.perhaps(12, func() { g.say("within", "group"); g.inside(func() { g.say("order", "by"); g.expression() }) })
	g.perhaps(12, func() { g.say("filter"); g.inside(func() { g.say("where"); g.expression() }) })
	g.perhaps(10, func() { g.say("over"); g.either(g.window, g.name) })
}

// window writes the parentheses behind OVER.
func (g *Generator) window() {
	g.inside(func() {
		g.perhaps(3, func() { g.say("partition", "by"); g.list(g.expression) })
		g.perhaps(2, func() { g.say("order", "by"); g.list(g.sortKey) })
		g.perhaps(4, func() {
			g.say(g.pick("rows", "range", "groups"), "between")
			g.raw(g.pick("unbounded preceding", "1 preceding", "current row"))
			g.say("and", "current", "row")
			g.perhaps(3, func() { g.say("exclude"); g.raw(g.pick("ties", "group", "no others", "current row")) })
		})
	})
}

func (g *Generator) sortKey() {
	g.expression()
	g.perhaps(4, func() { g.say(g.pick("asc", "desc", "using <")) })
	g.perhaps(6, func() { g.say("nulls", g.pick("first", "last")) })
}

// binary writes an operator between two expressions, or behind one.
func (g *Generator) binary() {
	g.expression()
	switch g.random.IntN(9) {
	case 0:
		g.say(g.pick("is null", "is not null", "isnull", "notnull", "is true", "is not unknown", "is document", "is nfc normalized",
			"is json object", "collate \"C\"", "at local"))
		return
	case 1:
		g.perhaps(3, func() { g.say("not") })
		g.say("in")
		g.inside(func() { g.either(g.query, func() { g.list(g.expression) }) })
		return
	case 2:
		g.perhaps(3, func() { g.say("not") })
		g.say("between")
		g.perhaps(4, func() { g.say(g.pick("symmetric", "asymmetric")) })
		g.expression()
		g.say("and")
	case 3:
		g.say(g.pick("=", "<>", "<"), g.pick("any", "all", "some"))
		g.inside(func() { g.either(g.query, g.expression) })
		return
	case 4:
		g.perhaps(4, func() { g.say("not") })
		g.say(g.pick("like", "ilike", "similar to", "overlaps", "at time zone", "is distinct from", "is not distinct from"))
		g.expression()
		g.perhaps(8, func() { g.say("escape"); g.literal() })
		return
	case 5:
		g.say("operator")
		g.inside(func() { g.raw(g.pick("pg_catalog.+", "+", "public.@@", "pg_catalog . ||")) })
	default:
		g.b.WriteString(g.pick("+", "-", "*", "/", "||", "=", "<", "->", "->>", "#>", "@>", "<@", "?", "?|", "&&", "<->", "!=", "and ",
			"or ", "%", "^", "@-", "*/**/", "+--\n", "~", "!~*", "|| /* */ ", "-\n-", "<-", "~-", "@@"))
	}
	g.expression()
}

// cast writes a cast in one of its notations.
func (g *Generator) cast() {
	g.either(
		func() { g.literal(); g.raw("::"); g.typeName() },
		func() { g.inside(g.expression); g.raw("::"); g.typeName() },
		func() { g.say("cast"); g.inside(func() { g.expression(); g.say("as"); g.typeName() }) },
	)
}

// conditional writes CASE.
func (g *Generator) conditional() {
	g.say("case")
	g.perhaps(3, g.expression)
	g.say("when")
	g.expression()
	g.say("then")
	g.expression()
	g.perhaps(2, func() { g.say("else"); g.expression() })
	g.say("end")
}

// subquery writes a query as an expression.
func (g *Generator) subquery() {
	g.say(g.pick("", "exists", "array", "not exists"))
	g.inside(g.query)
}

// special writes what looks like a call and has a syntax of its own.
func (g *Generator) special() {
	g.either(
		func() { g.raw("substring("); g.expression(); g.say("from", "1", "for"); g.expression(); g.say(")") },
		func() { g.raw("substring("); g.expression(); g.say("for"); g.expression(); g.say(")") },
		func() { g.raw("extract(epoch from "); g.expression(); g.say(")") },
		func() { g.raw("trim(both 'x' from "); g.expression(); g.say(")") },
		func() { g.raw("position('a' in "); g.literal(); g.say(")") },
		func() { g.raw("overlay("); g.expression(); g.raw("placing 'x' from 1 for 2)") },
		func() { g.raw("coalesce("); g.list(g.expression); g.say(")") },
		func() { g.raw("grouping("); g.list(g.name); g.say(")") },
		func() { g.raw("collation for ("); g.expression(); g.say(")") },
		func() {
			g.raw("xmlelement(name a, xmlattributes(")
			g.expression()
			g.raw("as b), ")
			g.expression()
			g.say(")")
		},
		func() { g.raw("xmlserialize(content "); g.expression(); g.raw("as text)") },
		func() { g.raw("json_object('a': "); g.expression(); g.raw("with unique keys)") },
		func() { g.raw("json_array("); g.query(); g.say(")") },
		func() { g.raw("json_value("); g.expression(); g.raw(", '$.a' returning text default 'x' on empty)") },
		func() { g.say("row"); g.inside(func() { g.list(g.expression) }) },
		func() { g.say("array"); g.raw("["); g.list(g.expression); g.raw("]") },
		func() { g.inside(func() { g.expression(); g.say(","); g.expression() }) },
		func() { g.raw("current_user") },
		func() { g.raw(g.among(1, []string{"cast(", "treat("})); g.expression(); g.raw("as text)") },
		func() {
			g.raw("set_config('a.b', 'c', ")
			g.raw(g.pick("true", "false", "$1", "(true)", "not true", "TRUE"))
			g.say(")")
		},
	)
}
