package router

import "bytes"

// Classify finds out what a statement may do, as far as its text tells. It
// denies by default: only a single SELECT, TABLE, VALUES or WITH, or an EXPLAIN
// of one, that holds no word that could write, lock or store, and calls only
// functions known to be stable, is a read.
//
// Cost: one pass over the text, no allocation. Concurrency: pure.
func Classify(sql string) Statement {
	c := classifier{scanner: scanner{s: sql}}
	s := c.statement()
	s.Hint, s.MaxStaleness = c.hint.hint, c.hint.maxStaleness
	return s
}

// classifier reads one text.
type classifier struct {
	scanner
	tok  token
	buf  [nameBytes]byte
	temp bool // the query may make a temporary table
	size int  // of what is in buf: tok in lower case, if it is a word
}

func (c *classifier) advance() {
	c.tok = c.next()
	c.size = 0
	if c.tok.kind == kindWord {
		c.size = len(fold(&c.buf, c.tok.text))
	}
}

// word returns the present token in lower case, if it is a word.
func (c *classifier) word() []byte { return c.buf[:c.size] }

func (c *classifier) is(word string) bool { return string(c.word()) == word }

func (c *classifier) sign(b byte) bool { return c.tok.kind == kindSign && c.tok.sign == b }

// ended reports whether the statement is over.
func (c *classifier) ended() bool { return c.tok.kind == kindEnd || c.sign(';') }

func (c *classifier) statement() Statement {
	c.advance()
	for c.sign(';') {
		c.advance()
	}
	if c.tok.kind == kindEnd && !c.bad {
		return Statement{Why: CauseEmpty}
	}
	s := c.one()
	for !c.ended() {
		c.advance()
	}
	for c.sign(';') {
		c.advance()
	}
	switch {
	case c.tok.kind != kindEnd:
		return c.several(s)
	case c.bad:
		return Statement{Why: CauseUnclosed, Starts: s.Starts | PinUnknown | PinTx}
	}
	s.Single = true
	return s
}

// several classifies a text of more than one statement: it may do what any of
// them does, and leave a transaction open.
func (c *classifier) several(s Statement) Statement {
	starts := s.Starts | PinTx
	for c.tok.kind != kindEnd {
		starts |= c.one().Starts
		for !c.ended() {
			c.advance()
		}
		for c.sign(';') {
			c.advance()
		}
	}
	if c.bad {
		starts |= PinUnknown
	}
	return Statement{Why: CauseSeveral, Starts: starts}
}

// one classifies the statement that begins at the present token. It may stop
// short of its end.
func (c *classifier) one() Statement {
	if c.sign('(') {
		return c.read()
	}
	switch string(c.word()) {
	case "select", "table", "values", "with":
		return c.read()
	case "explain":
		return c.explain()
	case "show":
		return Statement{Class: ClassLocal, Why: CauseServer}
	case "set":
		return c.set()
	case "begin", "start":
		return control(ControlBegin)
	case "commit", "end":
		return c.end(ControlCommit, ControlCommitPrepared)
	case "rollback", "abort":
		return c.end(ControlRollback, ControlRollbackPrepared)
	case "savepoint", "release":
		return control(ControlSavepoint)
	case "insert", "update", "delete", "merge":
		s := c.read()
		return Statement{Class: ClassWrite, Why: CauseVerb, Starts: s.Starts}
	case "create":
		return c.create()
	case "call", "do":
		return Statement{Class: ClassWrite, Why: CauseVerb, Starts: PinCall}
	case "execute":
		return Statement{Class: ClassWrite, Why: CauseVerb}
	case "alter", "analyze", "checkpoint", "cluster", "comment", "copy", "drop", "grant", "import", "lock",
		"notify", "reassign", "refresh", "reindex", "revoke", "security", "truncate", "vacuum":
		return Statement{Class: ClassWrite, Why: CauseVerb}
	}
	return c.session()
}

func control(what Control) Statement {
	return Statement{Class: ClassControl, Control: what, Why: CauseVerb}
}

func session(starts, ends Pin) Statement {
	return Statement{Class: ClassSession, Why: CauseVerb, Starts: starts, Ends: ends}
}

// session classifies the statements that concern their connection only.
func (c *classifier) session() Statement {
	switch string(c.word()) {
	case "reset", "load":
		return session(PinSet, 0)
	case "listen":
		return session(PinListen, 0)
	case "fetch", "move", "close":
		return session(0, 0)
	case "unlisten":
		c.advance()
		if c.sign('*') {
			return session(0, PinListen)
		}
		return session(0, 0)
	case "deallocate":
		c.advance()
		if c.is("prepare") {
			c.advance()
		}
		if c.is("all") {
			return session(0, PinPrepare)
		}
		return session(0, 0)
	case "discard":
		c.advance()
		if c.is("all") {
			return session(0, ^PinTx)
		}
		return session(0, 0)
	case "prepare":
		c.advance()
		if c.is("transaction") {
			return control(ControlPrepare)
		}
		return session(PinPrepare, 0)
	case "declare":
		for !c.ended() {
			if c.is("hold") {
				return session(PinCursor, 0)
			}
			c.advance()
		}
		return session(0, 0)
	}
	return Statement{Why: CauseUnknown, Starts: PinUnknown}
}

func (c *classifier) set() Statement {
	c.advance()
	switch string(c.word()) {
	case "local":
		return session(0, 0)
	case "transaction", "constraints":
		return control(ControlSet)
	}
	return session(PinSet, 0)
}

// end classifies COMMIT, ROLLBACK and their other spellings.
func (c *classifier) end(what, prepared Control) Statement {
	s := control(what)
	no := false
	for c.advance(); !c.ended(); c.advance() {
		switch string(c.word()) {
		case "prepared":
			return control(prepared)
		case "to":
			return control(ControlSavepoint)
		case "no":
			no = true
		case "chain":
			s.Chain = !no
		}
	}
	return s
}

func (c *classifier) create() Statement {
	s := Statement{Class: ClassWrite, Why: CauseVerb}
	for c.advance(); !c.ended(); c.advance() {
		switch string(c.word()) {
		case "temp", "temporary", "pg_temp":
			s.Starts = PinTemp
		}
	}
	return s
}

// explain classifies EXPLAIN by what it explains; with ANALYZE that is run.
func (c *classifier) explain() Statement {
	c.advance()
	if c.sign('(') {
		for !c.ended() && !c.sign(')') {
			c.advance()
		}
		if c.sign(')') {
			c.advance()
		}
	}
	for c.is("analyze") || c.is("verbose") {
		c.advance()
	}
	switch s := c.one(); s.Class {
	case ClassRead, ClassVolatile, ClassLocal:
		return s
	default:
		return Statement{Class: ClassWrite, Why: CauseVerb, Starts: s.Starts}
	}
}

// read looks through a query, or through INSERT, UPDATE, DELETE or MERGE, for
// what makes it more than a read. The worst that it finds is the class.
func (c *classifier) read() Statement {
	s := Statement{Class: ClassRead, Why: CauseVerb}
	p := place{dml: !c.sign('(') && (c.is("insert") || c.is("update") || c.is("merge"))}
	for first := true; !c.ended(); first = false {
		t, word := c.tok, c.word()
		switch {
		case t.kind == kindWord && c.found(&s, word, first):
		case len(word) >= 3 && word[0] == 'p' && bytes.HasPrefix(word, []byte("pg_")), t.kind == kindQuoted:
			c.relation(&s, t)
		}
		p.enter(t, word)
		c.advance()
		if c.sign('(') && (t.kind == kindWord || t.kind == kindQuoted) && !p.inert() {
			c.call(&s, t, &p)
		}
		p.leave(t)
	}
	if c.temp && s.Class == ClassWrite {
		s.Starts |= PinTemp
	}
	return s
}

// worse makes the statement at least of a class; the order is that of doubt.
func (s *Statement) worse(class Class, why Cause) {
	if rank(class) > rank(s.Class) {
		s.Class, s.Why = class, why
	}
}

func rank(c Class) int {
	switch c {
	case ClassRead:
		return 0
	case ClassLocal:
		return 1
	case ClassVolatile:
		return 2
	case ClassWrite:
		return 3
	}
	return 4
}

// found takes in a keyword. The words that begin a data-modifying CTE are
// allowed as names by PostgreSQL; here they are not looked at twice.
func (c *classifier) found(s *Statement, word []byte, first bool) bool {
	switch string(word) {
	case "insert", "update", "delete", "merge", "into":
		if !first {
			s.worse(ClassWrite, CauseWriting)
		}
	case "for":
		// FOR UPDATE and FOR NO KEY UPDATE are found by their UPDATE.
		mark := *c
		c.advance()
		if c.is("share") || c.is("key") {
			s.worse(ClassWrite, CauseLocking)
		}
		*c = mark
	case "temp", "temporary":
		c.temp = true
	default:
		return false
	}
	return true
}

// relation takes in a name that may be a server's own view.
func (c *classifier) relation(s *Statement, t token) {
	word := c.word()
	if t.kind == kindQuoted {
		word = fold(&c.buf, t.text)
	}
	if bytes.HasPrefix(word, []byte("pg_temp")) {
		s.worse(ClassLocal, CauseServer)
		return
	}
	if bytes.HasPrefix(word, []byte("pg_")) && catalogs[string(word)] != effectNone && functions[string(word)] == effectUnknown {
		s.worse(ClassLocal, CauseServer)
	}
}

// call takes in the call of a function, or what looks like one.
func (c *classifier) call(s *Statement, t token, p *place) {
	var buf [nameBytes]byte
	name := fold(&buf, t.text)
	if t.kind == kindQuoted && string(name) != t.text {
		name = nil // built-in names have no capitals
	}
	e := effectUnknown
	if name != nil && !p.foreign {
		e = functions[string(name)]
	}
	if e == effectSyntax && (t.kind == kindQuoted || p.qualified) {
		e = effectUnknown
	}
	if e == effectUnknown && p.syntax(name) {
		e = effectSyntax
	}
	switch e {
	case effectNone, effectSyntax:
	case effectServer:
		s.worse(ClassLocal, CauseServer)
	case effectAct:
		s.worse(ClassWrite, CauseEffect)
	case effectAdvisory:
		s.worse(ClassWrite, CauseEffect)
		s.Starts |= PinAdvisory
	case effectSequence:
		s.worse(ClassWrite, CauseSequence)
	case effectSetting:
		s.worse(ClassWrite, CauseSetting)
		s.Starts |= PinSet
	default:
		class := ClassVolatile
		if bytes.HasPrefix(name, []byte("pg_")) {
			class = ClassWrite // a built-in one that is not known to be harmless
		}
		s.worse(class, CauseFunction)
		s.Starts |= PinVolatile
	}
}
