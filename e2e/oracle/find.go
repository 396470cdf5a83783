package oracle

import (
	"strings"

	"github.com/pgryw/pgryw/router"
)

// found is what there is anywhere in a statement.
type found struct {
	writes   bool // it changes, locks or stores, or calls what does
	volatile bool // it calls what may do anything
	local    bool // it asks for what differs from server to server
	temp     bool // it names or makes what is temporary
	stores   bool // its rows are stored in a temporary table
	starts   router.Pin
}

// find looks through a statement, at any depth.
func (o *Oracle) find(n node) found {
	var f found
	n.walk(func(name string, n node) {
		switch name {
		case "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "LockingClause":
			f.writes = true
		case "intoClause":
			f.writes = true
			f.stores = n.child("rel").text("relpersistence") == "t"
		case "ColumnRef":
			if fields := n.names("fields"); len(fields) > 1 {
				o.attribute(&f, fields[len(fields)-1])
			}
		case "A_Indirection":
			for _, field := range n.names("indirection") {
				o.attribute(&f, field)
			}
		case "TypeName", "typeName":
			if names := n.names("names"); len(names) > 1 {
				f.schema(names[0])
			}
		}
		if _, ok := n["funcformat"]; ok {
			o.call(&f, n)
		}
		if relation := n.text("relname"); relation != "" {
			o.relation(&f, n)
		}
	})
	return f
}

// take takes in what a name by itself does.
func (f *found) take(s router.Statement) {
	switch s.Class {
	case router.ClassRead:
	case router.ClassLocal:
		f.local = true
	case router.ClassVolatile:
		f.volatile = true
	case router.ClassUnknown:
		f.local, f.volatile = true, true
	default:
		f.writes = true
	}
	f.starts |= s.Starts &^ router.PinVolatile
	if s.Starts&router.PinVolatile != 0 {
		f.volatile = true
	}
}

// schema takes in the name of a schema.
func (f *found) schema(name string) {
	if strings.HasPrefix(name, "pg_temp") {
		f.local, f.temp = true, true
	}
}

// call takes in the call of a function.
func (o *Oracle) call(f *found, n node) {
	name := n.names("funcname")
	if len(name) > 1 {
		f.schema(name[0])
	}
	s := o.effects.call(name)
	if s.Why == router.CauseSetting && name[len(name)-1] == "set_config" && isLocal(n.nodes("args")) {
		s.Starts &^= router.PinSet | router.PinRole
	}
	f.take(s)
}

// isLocal reports whether the arguments of set_config end with the literal true.
func isLocal(args []node) bool {
	if len(args) == 0 {
		return false
	}
	value := args[len(args)-1].child("A_Const").child("boolval")
	return value != nil && value.flag("boolval")
}

// attribute takes in what stands behind a point, and may be a function's name.
func (o *Oracle) attribute(f *found, name string) {
	if s, ok := o.effects.attribute(name); ok {
		f.take(s)
	}
}

// relation takes in the name of a table or view.
func (o *Oracle) relation(f *found, n node) {
	name := []string{n.text("relname")}
	if schema := n.text("schemaname"); schema != "" {
		f.schema(schema)
		name = []string{schema, name[0]}
	}
	if n.text("relpersistence") == "t" {
		f.temp = true
	}
	f.take(o.effects.relation(name))
}
