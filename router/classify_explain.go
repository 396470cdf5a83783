package router

// explain is how far a statement that begins with EXPLAIN has been read.
type explain uint8

const (
	explainNone    explain = iota
	explainVerb            // EXPLAIN alone
	explainOpen            // EXPLAIN (
	explainOptions         // in the list of options
	explainBody            // what is explained begins
)

// prelude reports whether a token stands before the head: EXPLAIN, its options,
// or a parenthesis around a query. What is explained is classified in its stead:
// with ANALYZE it is run, and without it may be sent where it would be run.
func (c *classifier) prelude(t token) bool {
	switch c.explain {
	case explainNone:
		switch {
		case t.kind == kindOpen:
			c.wrapped = true
		case c.wrapped:
			return false
		default:
			c.explain = explainVerb
		}
		return true
	case explainVerb:
		switch {
		case t.kind == kindOpen:
			c.explain = explainOpen
			return true
		case c.is(t, "analyze"), c.is(t, "analyse"), c.is(t, "verbose"):
			return true
		}
	case explainOpen:
		switch {
		case t.kind == kindOpen:
			c.explain, c.wrapped = explainBody, true
			return true
		case c.is(t, "select"), c.is(t, "values"), c.is(t, "table"), t.kind == kindWith:
			c.wrapped = true
		default:
			c.explain = explainOptions
			return true
		}
	case explainOptions:
		if t.kind == kindClose && c.depth == 1 {
			c.explain = explainBody
		}
		return true
	case explainBody:
		if t.kind == kindOpen {
			c.wrapped = true
			return true
		}
	}
	c.explain = explainBody
	return false
}
