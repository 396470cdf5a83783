package oracle

// query writes SELECT, VALUES, TABLE, or several of them.
func (g *Generator) query() {
	if g.depth > depthLimit {
		g.say("select", "1")
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	g.perhaps(6, g.with)
	g.simple()
	for g.one(8) {
		g.say(g.pick("union", "union all", "intersect", "except"))
		g.simple()
	}
	g.perhaps(6, func() { g.say("order", "by"); g.list(g.sortKey) })
	g.perhaps(10, func() { g.say("limit"); g.either(g.literal, g.expression) })
	g.perhaps(12, func() {
		g.raw(g.pick("fetch first row only", "fetch next (1) rows with ties", "offset 1 rows", "offset (2)"))
	})
	g.perhaps(25, g.locking)
}

// simple writes one query without a tail.
func (g *Generator) simple() {
	switch g.random.IntN(14) {
	case 0:
		g.say("values")
		g.list(func() { g.inside(func() { g.list(g.expression) }) })
	case 1:
		g.say("table")
		g.raw(g.among(calmRelations, relationNames))
	case 2:
		g.inside(g.query)
	default:
		g.selects()
	}
}

// selects writes SELECT.
func (g *Generator) selects() {
	g.say("select")
	g.perhaps(10, func() {
		g.say("distinct")
		g.perhaps(2, func() { g.say("on"); g.inside(func() { g.list(g.expression) }) })
	})
	g.list(g.target)
	g.perhaps(40, func() { g.say("into"); g.raw(g.pick("", "temp", "temporary table", "table", "unlogged")); g.name() })
	if g.one(6) {
		return
	}
	g.say("from")
	g.list(g.source)
	g.perhaps(2, func() { g.say("where"); g.expression() })
	g.perhaps(6, func() {
		g.say("group", "by")
		g.either(
			func() { g.list(g.expression) },
			func() { g.say(g.pick("rollup", "cube")); g.inside(func() { g.list(g.expression) }) },
			func() {
				g.say("grouping", "sets")
				g.inside(func() { g.list(func() { g.inside(func() { g.list(g.expression) }) }) })
			},
		)
	})
	g.perhaps(10, func() { g.say("having"); g.expression() })
	g.perhaps(14, func() { g.say("window"); g.name(); g.say("as"); g.window() })
}

// target writes one column of a SELECT.
func (g *Generator) target() {
	if g.one(8) {
		g.raw("*")
		return
	}
	g.expression()
	g.perhaps(4, func() { g.perhaps(2, func() { g.say("as") }); g.name() })
}

// source writes one item of FROM.
func (g *Generator) source() {
	if g.depth > depthLimit {
		g.raw(g.among(calmRelations, relationNames))
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	g.perhaps(12, func() { g.say("lateral") })
	switch g.random.IntN(9) {
	case 0:
		g.inside(g.query)
	case 1:
		g.call()
		g.perhaps(3, func() { g.say("with", "ordinality") })
	case 2:
		g.raw("rows from(")
		g.list(func() { g.call(); g.perhaps(4, func() { g.raw("as (a int, b text)") }) })
		g.say(")")
	case 3:
		g.raw("xmltable('/a' passing ")
		g.literal()
		g.raw("columns a int path 'b', c for ordinality)")
	case 4:
		g.raw("json_table('[]', '$' columns (a int path '$.a'))")
	case 5:
		g.inside(func() { g.source(); g.joined() })
	default:
		g.perhaps(12, func() { g.say("only") })
		g.raw(g.among(calmRelations, relationNames))
	}
	g.perhaps(2, g.alias)
	g.perhaps(14, func() { g.raw("tablesample system(1)"); g.perhaps(2, func() { g.raw("repeatable (2)") }) })
	g.perhaps(4, g.joined)
}

// alias writes the alias of an item of FROM.
func (g *Generator) alias() {
	if g.one(2) {
		g.say("as")
		g.name()
		g.perhaps(3, g.names)
		return
	}
	g.name()
	g.perhaps(20, g.names)
}

// joined writes a JOIN behind an item of FROM.
func (g *Generator) joined() {
	switch g.random.IntN(4) {
	case 0:
		g.say(g.pick("cross join", "natural join", "natural left join"))
		g.source()
	case 1:
		g.say(g.pick("join", "left join", "full outer join"))
		g.source()
		g.say("using")
		g.names()
		g.perhaps(5, func() { g.say("as"); g.name() })
	default:
		g.say(g.pick("join", "inner join", "left outer join", "right join"))
		g.source()
		g.say("on")
		g.expression()
	}
}

// with writes WITH and its list.
func (g *Generator) with() {
	g.say("with")
	g.perhaps(4, func() { g.say("recursive") })
	g.list(func() {
		g.name()
		g.perhaps(3, g.names)
		g.say("as")
		g.perhaps(5, func() { g.raw(g.pick("materialized", "not materialized")) })
		g.inside(func() {
			if g.one(14) {
				g.change()
				return
			}
			g.query()
		})
		g.perhaps(20, func() { g.raw("search depth first by a, b set c") })
		g.perhaps(20, func() { g.raw("cycle a set b using c") })
	})
}

// locking writes a locking clause.
func (g *Generator) locking() {
	g.say("for")
	g.say(g.pick("update", "no key update", "share", "key share"))
	g.perhaps(4, func() { g.say("of", "t") })
	g.perhaps(4, func() { g.say(g.pick("nowait", "skip locked")) })
}
