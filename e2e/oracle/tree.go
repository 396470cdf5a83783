package oracle

import (
	"encoding/json"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// node is one node of a parse tree, by the names of its fields. Fields with
// their zero value are left out.
type node map[string]any

// parse returns the statements of a text. Errors: that of PostgreSQL's parser.
func parse(sql string) ([]node, error) {
	text, err := pg_query.ParseToJSON(sql)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	var tree struct {
		Stmts []struct{ Stmt node }
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil, fmt.Errorf("oracle: read the tree: %w", err)
	}
	statements := make([]node, len(tree.Stmts))
	for i, s := range tree.Stmts {
		statements[i] = s.Stmt
	}
	return statements, nil
}

// typed returns the name of a node's type and the node inside, for a node that
// is wrapped as {"SelectStmt": {...}}.
func (n node) typed() (string, node) {
	for name, inside := range n {
		if inside, ok := inside.(map[string]any); ok && len(n) == 1 {
			return name, inside
		}
	}
	return "", nil
}

// child returns the node in a field, or nil.
func (n node) child(field string) node {
	inside, _ := n[field].(map[string]any)
	return inside
}

// text returns the string in a field, or "".
func (n node) text(field string) string {
	s, _ := n[field].(string)
	return s
}

// flag reports whether a field is set.
func (n node) flag(field string) bool {
	b, _ := n[field].(bool)
	return b
}

// nodes returns the nodes in a field that holds a list.
func (n node) nodes(field string) []node {
	list, _ := n[field].([]any)
	nodes := make([]node, 0, len(list))
	for _, item := range list {
		if inside, ok := item.(map[string]any); ok {
			nodes = append(nodes, inside)
		}
	}
	return nodes
}

// names returns the strings in a field that holds a list of String nodes and,
// perhaps, others.
func (n node) names(field string) []string {
	var names []string
	for _, item := range n.nodes(field) {
		if s := item.child("String"); s != nil {
			names = append(names, s.text("sval"))
		}
	}
	return names
}

// walk visits every node below n, and n itself.
func (n node) walk(visit func(name string, n node)) { walk("", map[string]any(n), visit) }

func walk(name string, value any, visit func(name string, n node)) {
	switch value := value.(type) {
	case map[string]any:
		visit(name, value)
		for field, inside := range value {
			walk(field, inside, visit)
		}
	case []any:
		for _, inside := range value {
			walk(name, inside, visit)
		}
	}
}
