package router

// control classifies the statements that begin, end or divide a transaction.
func (c *classifier) control(verb []byte) (s Statement, ok bool) {
	s = Statement{Class: ClassControl, Why: CauseVerb}
	switch string(verb) {
	case "begin":
		s.Control, s.Starts = ControlBegin, PinTx
	case "start":
		if !c.headIs(1, "transaction") {
			return Statement{}, false
		}
		s.Control, s.Starts = ControlBegin, PinTx
	case "commit", "end":
		c.end(&s, ControlCommit, ControlCommitPrepared)
	case "rollback", "abort":
		c.end(&s, ControlRollback, ControlRollbackPrepared)
	case "savepoint", "release":
		s.Control = ControlSavepoint
	case "prepare":
		if !c.headIs(1, "transaction") || c.headSize < 3 || c.head[2].kind != kindString {
			return Statement{}, false
		}
		s.Control, s.Ends = ControlPrepare, PinTx
	case "set":
		if !c.headIs(1, "transaction") && !c.headIs(1, "constraints") || !c.worded(2) {
			return Statement{}, false
		}
		s.Control = ControlSet
	default:
		return Statement{}, false
	}
	return s, true
}

// end classifies COMMIT, ROLLBACK and their other spellings.
func (c *classifier) end(s *Statement, what, prepared Control) {
	s.Control = what
	if c.headIs(1, "prepared") {
		s.Control = prepared
		return
	}
	n := 1
	if c.headIs(n, "work") || c.headIs(n, "transaction") {
		n++
	}
	switch {
	case c.headIs(n, "to"):
		s.Control = ControlSavepoint
		return
	case c.headIs(n, "and") && c.headIs(n+1, "chain"):
		s.Chain, s.Starts = true, PinTx
		return
	}
	s.Ends = PinTx
}

// worded reports whether a token of the head is a name: what stands before it in
// SET is a keyword, then, and no setting's name.
func (c *classifier) worded(n int) bool {
	return n < c.headSize && (c.head[n].kind.word() || c.head[n].kind == kindQuoted)
}
