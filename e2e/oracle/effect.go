package oracle

import (
	"strings"
	"sync"

	"github.com/pgryw/pgryw/router"
)

// effects remembers what the router has said of each name. Env is the same for
// all of them.
type effects struct {
	env     *router.Env
	answers sync.Map // of a text to a router.Statement
}

// of returns what the router makes of a text that holds one name only.
func (e *effects) of(sql string) router.Statement {
	if s, ok := e.answers.Load(sql); ok {
		return s.(router.Statement)
	}
	s := router.Classify(sql, e.env)
	e.answers.Store(sql, s)
	return s
}

// call returns what a call of a function does.
func (e *effects) call(name []string) router.Statement {
	return e.of("SELECT " + quote(name) + "()")
}

// attribute returns what naming a function as if it were a column does, and
// whether that matters: a user's function cannot be told from a column, and what
// a standby refuses is found out when it does.
func (e *effects) attribute(name string) (router.Statement, bool) {
	s := e.call([]string{name})
	switch s.Why {
	case router.CauseEffect, router.CauseSetting, router.CauseServer:
		return s, true
	}
	return s, false
}

// relation returns what reading a table or view does.
func (e *effects) relation(name []string) router.Statement {
	return e.of("SELECT * FROM " + quote(name))
}

// quote writes a name so that no part of it can be a keyword.
func quote(name []string) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
	}
	return strings.Join(parts, ".")
}
