package oracle

import "github.com/pgryw/pgryw/router"

// transaction judges what begins, ends or divides a transaction.
func transaction(n node) Verdict {
	v := Verdict{Class: router.ClassControl, Chain: n.flag("chain")}
	switch n.text("kind") {
	case "TRANS_STMT_BEGIN", "TRANS_STMT_START":
		v.Control, v.Starts = router.ControlBegin, router.PinTx
	case "TRANS_STMT_COMMIT":
		v.Control = router.ControlCommit
	case "TRANS_STMT_ROLLBACK":
		v.Control = router.ControlRollback
	case "TRANS_STMT_SAVEPOINT", "TRANS_STMT_RELEASE", "TRANS_STMT_ROLLBACK_TO":
		v.Control = router.ControlSavepoint
	case "TRANS_STMT_PREPARE":
		v.Control, v.Ends = router.ControlPrepare, router.PinTx
	case "TRANS_STMT_COMMIT_PREPARED":
		v.Control = router.ControlCommitPrepared
	case "TRANS_STMT_ROLLBACK_PREPARED":
		v.Control = router.ControlRollbackPrepared
	}
	if v.Control == router.ControlCommit || v.Control == router.ControlRollback {
		if v.Chain {
			v.Starts = router.PinTx
		} else {
			v.Ends = router.PinTx
		}
	}
	return v
}

// session judges what concerns its connection only, and reports whether the
// statement is of that kind.
func (o *Oracle) session(kind string, n node) (Verdict, bool) {
	v := Verdict{Class: router.ClassSession}
	switch kind {
	case "VariableSetStmt":
		return variable(n), true
	case "LoadStmt":
		v.Starts = router.PinSet | router.PinRole
	case "ListenStmt":
		v.Starts = router.PinListen
	case "UnlistenStmt":
		if n.text("conditionname") == "" {
			v.Ends = router.PinListen
		}
	case "PrepareStmt":
		v.Starts = router.PinPrepare
	case "DeallocateStmt":
		if n.text("name") == "" {
			v.Ends = router.PinPrepare
		}
	case "DeclareCursorStmt":
		return o.declare(n), true
	case "FetchStmt":
	case "ClosePortalStmt":
		if n.text("portalname") == "" {
			v.Ends = router.PinCursor
		}
	case "DiscardStmt":
		switch n.text("target") {
		case "DISCARD_ALL":
			v.Ends = ^router.PinTx
		case "DISCARD_TEMP":
			v.Ends = router.PinTemp
		}
	default:
		return Verdict{}, false
	}
	return v, true
}

// variable judges SET and RESET.
func variable(n node) Verdict {
	v := Verdict{Class: router.ClassSession}
	name := n.text("name")
	switch {
	case n.text("kind") == "VAR_RESET_ALL":
		v.Ends = router.PinSet
	case n.text("kind") == "VAR_RESET":
	case name == "TRANSACTION", name == "TRANSACTION SNAPSHOT":
		return Verdict{Class: router.ClassControl, Control: router.ControlSet}
	case n.flag("is_local"):
	case name == "role", name == "session_authorization", name == "seed":
		v.Starts = router.PinSet | router.PinRole
	default:
		v.Starts = router.PinSet
	}
	return v
}

// declare judges DECLARE: its query is run by FETCH, which is not captured, and
// so may only read.
func (o *Oracle) declare(n node) Verdict {
	const withHold = 0x0020 // CURSOR_OPT_HOLD
	v := Verdict{Class: router.ClassSession}
	options, _ := n["options"].(float64)
	if int(options)&withHold != 0 {
		v.Starts = router.PinCursor
	}
	q := o.query(n.child("query"))
	if q.Class != router.ClassRead && q.Class != router.ClassLocal {
		v.Class = router.ClassUnknown
		v.Starts |= q.Starts
	}
	return v
}

// write judges everything else.
func (o *Oracle) write(kind string, n node) Verdict {
	v := Verdict{Class: router.ClassWrite}
	f := o.find(n)
	switch kind {
	case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CopyStmt", "CreateTableAsStmt":
		v.Starts = f.starts // what these call, they call at once
	case "CallStmt", "DoStmt":
		v.Starts = f.starts | router.PinCall
	case "ExecuteStmt":
		v.Starts = f.starts | router.PinUnknown
	}
	if f.temp && !f.stores && creates(kind) { // INTO inside is refused
		v.Starts |= router.PinTemp
	}
	return v
}

// creates reports whether a statement may make what it names as temporary.
// CREATE SCHEMA may not: the server refuses what is temporary in it.
func creates(kind string) bool {
	switch kind {
	case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CopyStmt", "DropStmt", "CreateSchemaStmt":
		return false
	}
	return true
}
