package router

// conclude classifies the statement that has been read.
func (c *classifier) conclude(s *Statement) {
	if c.reading {
		c.reads(s)
	} else {
		*s = c.verb()
	}
	s.Starts |= c.starts
	if c.unlocks && c.surely() {
		s.Ends |= PinAdvisory
	}
	if c.explain != explainNone {
		explained(s)
	}
	if c.inTemp && (s.Class == ClassWrite || s.Class == ClassUnknown) {
		s.Starts |= PinTemp
	}
}

// surely reports whether the statement is SELECT of one call without arguments,
// and no more: the call is carried out if the statement succeeds.
func (c *classifier) surely() bool {
	return !c.wrapped && c.headIs(0, "select") && c.last(1) == kindClose && c.last(2) == kindOpen &&
		(c.read == 4 || c.read == 6 && c.last(4) == kindDot)
}

// explained makes of a statement what EXPLAIN of it is: the same, if it is a query.
func explained(s *Statement) {
	s.Ends = 0
	switch s.Class {
	case ClassSession, ClassControl:
		*s = Statement{Why: s.Why, Starts: s.Starts | PinUnknown}
	}
}

// headIs reports whether a token of the head is a keyword, given in lower case.
func (c *classifier) headIs(n int, keyword string) bool {
	return n < c.headSize && c.is(c.head[n], keyword)
}

// verb classifies a statement that is no query by its first word.
func (c *classifier) verb() Statement {
	if c.wrapped || !c.head[0].kind.word() {
		return Statement{Why: CauseUnknown, Starts: PinUnknown}
	}
	var buf [nameLimit]byte
	verb := c.nameOf(&buf, c.head[0])
	switch string(verb) {
	case "show":
		return Statement{Class: ClassLocal, Why: CauseServer}
	case "insert", "update", "delete", "merge", "alter", "analyze", "analyse", "checkpoint", "cluster", "comment",
		"copy", "drop", "grant", "import", "lock", "notify", "reassign", "refresh", "reindex", "repack", "revoke",
		"security", "truncate", "vacuum":
		return writes(0)
	case "create":
		return c.create()
	case "call", "do":
		return writes(PinCall)
	case "execute":
		return writes(PinUnknown)
	}
	if s, ok := c.control(verb); ok {
		return s
	}
	return c.session(verb)
}

// reads classifies a query.
func (c *classifier) reads(s *Statement) {
	*s = Statement{Class: ClassRead, Why: c.why}
	switch {
	case c.worst <= effectNone:
		s.Why = CauseVerb
	case c.worst == effectServer:
		s.Class = ClassLocal
	case c.worst >= effectOpaque:
		s.Class = ClassWrite
		if c.intoTemp {
			s.Starts = PinTemp
		}
	case c.server:
		s.Class = ClassUnknown // neither a replica nor a read
	default:
		s.Class = ClassVolatile
	}
	if c.volatile {
		s.Starts |= PinVolatile
	}
}

func writes(starts Pin) Statement {
	return Statement{Class: ClassWrite, Why: CauseVerb, Starts: starts}
}

// create classifies CREATE: its TEMP stands before what is created.
func (c *classifier) create() Statement {
	for n := 1; n < c.headSize; n++ {
		switch {
		case c.headIs(n, "or"), c.headIs(n, "replace"), c.headIs(n, "local"), c.headIs(n, "global"):
		case c.headIs(n, "temp"), c.headIs(n, "temporary"):
			return writes(PinTemp)
		default:
			return writes(0)
		}
	}
	return writes(0)
}
