package pgcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Mark is a point in the logs of all nodes. The zero Mark is their beginning.
type Mark struct {
	sizes []int64 // by number of the node, in bytes
	err   error   // why they are not known
}

// Mark returns the present end of all logs. Everything that a client has had an
// answer to lies before it.
//
// Errors: if a log cannot be read, whatever the mark is used for says so.
func (c *Cluster) Mark() Mark {
	m := Mark{sizes: make([]int64, len(c.nodes))}
	for i, n := range c.nodes {
		size, err := n.logSize()
		m.sizes[i] = size
		m.err = errors.Join(m.err, err)
	}
	return m
}

// Ran returns the nodes, by number, that have executed a statement with this
// text in it since the mark.
func (c *Cluster) Ran(since Mark, text string) ([]*Node, error) {
	var ran []*Node
	for _, n := range c.nodes {
		statements, err := n.Statements(since)
		if err != nil {
			return nil, err
		}
		for _, s := range statements {
			if strings.Contains(s.SQL, text) {
				ran = append(ran, n)
				break
			}
		}
	}
	return ran, nil
}

// Statement is one execution by a server: of a simple Query, with all its
// statements, or of a portal in the extended protocol. One that the server then
// refused is one too, unless it could not be parsed.
type Statement struct {
	SQL         string // exactly as sent
	Prepared    string // name of the prepared statement, "<unnamed>" if it has none; "" for a simple Query
	PID         int    // of the backend
	User        string
	Database    string
	Application string // application_name at that time
}

// Statements returns what clients other than this package have executed on the
// node since the mark, in the order of execution. A portal that is executed in
// pieces counts once.
func (n *Node) Statements(since Mark) ([]Statement, error) {
	text, err := n.Log(since)
	if err != nil {
		return nil, err
	}
	var statements []Statement
	for _, e := range parseLog(text) {
		if s, ok := e.statement(); ok && s.Application != applicationName {
			statements = append(statements, s)
		}
	}
	return statements, nil
}

// Log returns the text of the node's log since the mark.
func (n *Node) Log(since Mark) (string, error) {
	switch {
	case since.err != nil:
		return "", since.err
	case since.sizes == nil:
		return n.readLog(0)
	default:
		return n.readLog(since.sizes[n.number])
	}
}

// logSize returns the size of the log, in bytes.
func (n *Node) logSize() (int64, error) {
	info, err := os.Stat(n.inDir("log"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("pgcluster: %w", err)
	}
	return info.Size(), nil
}

// readLog returns the text of the log from an offset in bytes.
func (n *Node) readLog(offset int64) (string, error) {
	file, err := os.Open(n.inDir("log"))
	if err != nil {
		return "", fmt.Errorf("pgcluster: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, offset, 1<<62))
	if err != nil {
		return "", fmt.Errorf("pgcluster: %w", err)
	}
	return string(text), nil
}
