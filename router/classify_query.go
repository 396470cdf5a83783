package router

import "strings"

// headLimit is how many tokens of a statement decide what it is.
const headLimit = 10

// query is what has been found in one statement so far.
type query struct {
	// head are the first tokens, without the parentheses around a query and
	// without EXPLAIN and its options.
	head     [headLimit]token
	headSize int
	wrapped  bool // parentheses stand before the head
	explain  explain
	reading  bool // the head is that of a query

	depth      int
	unbalanced bool
	// odd has a bit for each of the outer 64 depths: set if the parentheses there
	// may be followed by an expression, as those of ON and OPERATOR are.
	odd       uint64
	closedOdd bool // of the latest parentheses that ended
	// lists has a bit for each of these depths: set in a list of common table
	// expressions.
	lists uint64

	// worst is the greatest effect of a call, or of a word as grave as one.
	worst    effect
	why      Cause
	server   bool // it answers for its server
	volatile bool // it calls a function that may do anything
	intoTemp bool // INTO a temporary table
	inTemp   bool // it names a schema of temporary tables
	unlocks  bool // it calls pg_advisory_unlock_all
	starts   Pin

	// pending is the effect of the latest word if it is a function's name: a
	// value may be passed as in (1).pg_advisory_lock.
	pending effect
	// settingAt is the depth inside the parentheses of set_config, or zero.
	settingAt int
}

// maskAt returns the bit of a depth, or zero if it has none.
func maskAt(depth int) uint64 { return 1 << uint(depth) }

func (c *classifier) empty() bool { return c.headSize == 0 && !c.wrapped && c.explain == explainNone }

// take takes in the next token.
func (c *classifier) take(t token) {
	if c.pending != effectAbsent {
		if t.kind != kindOpen {
			c.attributed()
		}
		c.pending = effectAbsent
	}
	if c.headSize < headLimit && !c.reading {
		c.begin(t)
	}
	if t.kind.word() && c.last(1) == kindDot {
		t.kind = wordBehindDot(t.kind)
	}
	switch t.kind {
	case kindWord:
		c.word(t)
	case kindFor, kindInto, kindWith, kindWrite:
		c.acting(t)
	case kindSystem:
		c.word(t)
		c.system(t)
	case kindQuoted:
		c.quoted(t)
	case kindOpen:
		c.open()
	case kindClose:
		c.close()
	}
	c.remember(t)
}

// quietly reports whether most tokens mean nothing by themselves from here on.
func (c *classifier) quietly() bool {
	return (c.reading || c.headSize == headLimit) && c.pending == effectAbsent
}

// wordBehindDot returns what kind of word one is behind a point, where none acts.
func wordBehindDot(k kind) kind {
	if k == kindSystem {
		return k
	}
	return kindWord
}

// minds has the kinds behind which a word is not quiet.
var minds = [kindSign + 1]bool{kindFor: true, kindInto: true, kindClose: true, kindDot: true}

// begin takes in one of the first tokens. Of a query, one is enough.
func (c *classifier) begin(t token) {
	if c.headSize == 0 {
		if (t.kind == kindOpen || c.explain != explainNone || c.is(t, "explain")) && c.prelude(t) {
			return
		}
		c.reading = t.kind == kindWith || c.is(t, "select") || c.is(t, "values") || c.is(t, "table")
	}
	c.head[c.headSize] = t
	c.headSize++
}

// settle ends the statement: what waits for a token comes to nothing else.
func (c *classifier) settle() {
	if c.pending != effectAbsent {
		c.attributed()
	}
	if c.settingAt != 0 {
		c.starts |= PinSet | PinRole
	}
	if c.depth != 0 || c.unbalanced {
		c.doubts(CauseUnclosed)
	}
}

// found records a word that makes the statement a write.
func (c *classifier) found(why Cause) { c.because(effectWrites, why) }

// because records an effect, and its cause if it is the worst so far.
func (c *classifier) because(e effect, why Cause) {
	if e > c.worst {
		c.worst, c.why = e, why
	}
}

// word takes in a word that does not act by itself.
func (c *classifier) word(t token) {
	switch c.last(1) {
	case kindFor:
		if c.is(t, "share") || c.is(t, "no") || c.is(t, "key") {
			c.found(CauseLocking)
		}
	case kindInto:
		switch {
		case c.is(t, "temp"), c.is(t, "temporary"), c.is(t, "local"), c.is(t, "global"):
			c.intoTemp = true
		}
	case kindClose:
		if c.lists != 0 && !c.is(t, "as") {
			c.lists &^= maskAt(c.depth)
		}
	case kindDot:
		if c.last(2) == kindClose {
			c.attribute(t)
		}
	}
}

// acting takes in FOR, INTO, WITH, INSERT, UPDATE, DELETE or MERGE. The latter
// four may be names, of columns, say; but a query that has them is not looked at
// twice, except behind AS, where none begins.
func (c *classifier) acting(t token) {
	last := c.back(1)
	c.word(t)
	switch t.kind {
	case kindInto:
		c.found(CauseWriting)
	case kindWith:
		if last.kind == kindOpen || t == c.head[0] {
			c.lists |= maskAt(c.depth)
		}
	case kindWrite:
		if last.kind == kindFor {
			c.found(CauseLocking)
		} else if !c.is(last, "as") {
			c.found(CauseWriting)
		}
	}
}

// system takes in a word that begins with pg_, or setseed.
func (c *classifier) system(t token) {
	var buf [nameLimit]byte
	c.relation(fold(&buf, c.textOf(t)))
	c.attribute(t)
}

// quoted takes in a quoted identifier.
func (c *classifier) quoted(t token) {
	name := c.textOf(t)
	if strings.HasPrefix(name, "pg_") && len(name) <= nameLimit {
		var buf [nameLimit]byte
		c.relation(buf[:copy(buf[:], name)])
		c.attribute(t)
	} else if c.last(1) == kindDot && c.last(2) == kindClose {
		c.attribute(t)
	}
}

// open takes in a parenthesis that begins.
func (c *classifier) open() {
	last, odd := c.back(1), false
	switch {
	case last.kind == kindClose:
		c.lists &^= maskAt(c.depth)
	case c.headSize == 0: // around a query, or around the options of EXPLAIN
	case last.kind == kindWord, last.kind == kindSystem, last.kind == kindQuoted:
		odd = c.named(last)
	case last.kind == kindWrite: // of this name is a user's function only
		c.called(effectUnknown)
	}
	c.depth++
	c.odd &^= maskAt(c.depth)
	c.lists &^= maskAt(c.depth)
	if odd {
		c.odd |= maskAt(c.depth)
	}
}

// close takes in a parenthesis that ends.
func (c *classifier) close() {
	if c.depth == c.settingAt && c.depth > 0 {
		if !c.is(c.back(1), "true") || c.last(2) != kindComma {
			c.starts |= PinSet | PinRole
		}
		c.settingAt = 0
	}
	c.closedOdd = c.depth > 63 || c.odd&maskAt(c.depth) != 0
	c.depth--
	if c.depth < 0 {
		c.unbalanced = true
	}
}
