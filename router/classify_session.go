package router

// allPins are those that DISCARD ALL ends; it cannot run in a transaction.
const allPins = ^PinTx

func session(starts, ends Pin) Statement {
	return Statement{Class: ClassSession, Why: CauseVerb, Starts: starts, Ends: ends}
}

// session classifies the statements that concern their connection only, and
// those that are not known.
func (c *classifier) session(verb []byte) Statement {
	switch string(verb) {
	case "set":
		return c.set()
	case "reset":
		if c.headIs(1, "all") {
			return session(0, PinSet)
		}
		return session(PinSet, 0)
	case "load":
		return session(PinSet|PinRole, 0)
	case "listen":
		return session(PinListen, 0)
	case "unlisten":
		if c.headSize > 1 && c.textOf(c.head[1]) == "*" {
			return session(0, PinListen)
		}
		return session(0, 0)
	case "prepare":
		return session(PinPrepare, 0)
	case "deallocate":
		if c.headIs(1, "all") || c.headIs(1, "prepare") && c.headIs(2, "all") {
			return session(0, PinPrepare)
		}
		return session(0, 0)
	case "declare":
		return c.declare()
	case "fetch", "move":
		return session(0, 0)
	case "close":
		if c.headIs(1, "all") {
			return session(0, PinCursor)
		}
		return session(0, 0)
	case "discard":
		switch {
		case c.headIs(1, "all"):
			return session(0, allPins)
		case c.headIs(1, "temp"), c.headIs(1, "temporary"):
			return session(0, PinTemp)
		}
		return session(0, 0)
	}
	return Statement{Why: CauseUnknown, Starts: PinUnknown}
}

// set classifies SET. RESET ALL does not undo a role, nor the seed of random.
func (c *classifier) set() Statement {
	n := 1
	switch {
	case c.headIs(n, "local") && c.worded(n+1):
		return session(0, 0)
	case c.headIs(n, "session") && c.worded(n+1):
		n++
	}
	switch {
	case c.headIs(n, "role"), c.headIs(n, "authorization"), c.headIs(n, "session_authorization"),
		c.headIs(n, "session") && c.headIs(n+1, "authorization"),
		c.headIs(n, "seed"), n < c.headSize && c.head[n].kind == kindQuoted:
		return session(PinSet|PinRole, 0)
	}
	return session(PinSet, 0)
}

// declare classifies DECLARE CURSOR. With HOLD, its query is run at once if no
// transaction is open.
func (c *classifier) declare() Statement {
	s := session(PinCursor, 0)
	for n := 1; n < c.headSize; n++ {
		if c.head[n].kind == kindFor {
			s.Starts = 0
			break
		}
		if c.headIs(n, "hold") && c.headIs(n-1, "with") {
			break
		}
	}
	if c.worst > effectServer {
		var q Statement
		c.reads(&q)
		return Statement{Class: ClassUnknown, Why: q.Why, Starts: s.Starts | q.Starts}
	}
	return s
}
