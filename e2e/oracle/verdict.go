package oracle

import (
	"slices"

	"github.com/pgryw/pgryw/router"
)

// Verdict is what the tree says of a text.
type Verdict struct {
	// Count is the number of statements.
	Count int
	// Class is that of the one statement, or ClassUnknown.
	Class router.Class
	// Control and Chain are those of a transaction-control statement.
	Control router.Control
	Chain   bool
	// Starts is the state that the text may start, at least.
	Starts router.Pin
	// Ends is the state that the text ends, at most.
	Ends router.Pin
}

// Oracle judges texts.
//
// Concurrency: anybody may use it.
type Oracle struct {
	effects effects
	// blind knows the same functions, and not how backslashes are read.
	blind *router.Env
}

// New returns an oracle that knows these functions beside the server's own.
// libpg_query reads a backslash as standard_conforming_strings has it.
func New(functions *router.Catalog) *Oracle {
	return &Oracle{
		effects: effects{env: &router.Env{Functions: functions, Strings: router.StringsStandard}},
		blind:   &router.Env{Functions: functions},
	}
}

// Judge parses a text and says what it is. Errors: that of PostgreSQL's parser.
func (o *Oracle) Judge(sql string) (Verdict, error) {
	statements, err := parse(sql)
	if err != nil {
		return Verdict{}, err
	}
	var all Verdict
	for _, s := range statements {
		v := o.statement(s)
		v.Starts |= all.Starts
		if v.Ends&router.PinTx != 0 {
			v.Starts &^= router.PinTx
		}
		all = v
	}
	if len(statements) != 1 {
		all = Verdict{Starts: all.Starts}
	}
	all.Count = len(statements)
	return all, nil
}

// statement judges one statement.
func (o *Oracle) statement(n node) Verdict {
	kind, inside := n.typed()
	switch kind {
	case "SelectStmt":
		return o.query(n)
	case "ExplainStmt":
		return o.explain(inside)
	case "VariableShowStmt":
		return Verdict{Class: router.ClassLocal}
	case "TransactionStmt":
		return transaction(inside)
	case "ConstraintsSetStmt":
		return Verdict{Class: router.ClassControl, Control: router.ControlSet}
	}
	if v, ok := o.session(kind, inside); ok {
		return v
	}
	return o.write(kind, n)
}

// explain judges EXPLAIN. A query is what it would be alone; of anything else it
// is a write, which ANALYZE carries out.
func (o *Oracle) explain(n node) Verdict {
	query := n.child("query")
	if kind, _ := query.typed(); kind == "SelectStmt" {
		v := o.query(query)
		v.Ends = 0
		return v
	}
	v := o.statement(query)
	return Verdict{Class: router.ClassWrite, Starts: v.Starts &^ router.PinCursor}
}

// query judges SELECT, VALUES or TABLE.
func (o *Oracle) query(n node) Verdict {
	f := o.find(n)
	v := Verdict{Starts: f.starts}
	if f.stores {
		v.Starts |= router.PinTemp
	}
	if f.volatile {
		v.Starts |= router.PinVolatile
	}
	switch {
	case f.writes:
		v.Class = router.ClassWrite
	case f.volatile && f.local:
		v.Class = router.ClassUnknown
	case f.volatile:
		v.Class = router.ClassVolatile
	case f.local:
		v.Class = router.ClassLocal
	default:
		v.Class = router.ClassRead
	}
	if callsOnly(n, "pg_advisory_unlock_all") {
		v.Ends = router.PinAdvisory
	}
	return v
}

// callsOnly reports whether a query is SELECT of one call and nothing else.
func callsOnly(n node, function string) bool {
	_, query := n.typed()
	targets := query.nodes("targetList")
	for field := range query {
		if !slices.Contains([]string{"targetList", "limitOption", "op"}, field) {
			return false
		}
	}
	if len(targets) != 1 {
		return false
	}
	call := targets[0].child("ResTarget").child("val").child("FuncCall")
	name := call.names("funcname")
	return len(name) > 0 && name[len(name)-1] == function &&
		(len(name) == 1 || len(name) == 2 && name[0] == "pg_catalog")
}
