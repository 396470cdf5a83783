package pgcluster

import (
	"strconv"
	"strings"
)

// entry is one message of a server's log.
type entry struct {
	pid                         int
	user, database, application string
	text                        string // "LOG:  statement: SELECT 1"
}

// parseLog splits a log into its messages.
//
// The server puts a tab after each line break inside a message, and starts each
// message with logLinePrefix; so the break between two messages is one without
// a tab behind it, and taking the tabs out again gives the text as it was.
//
// Source: append_with_tabs in src/backend/utils/error/elog.c, PostgreSQL 15.
func parseLog(text string) []entry {
	var entries []entry
	for text != "" {
		end := 0
		for {
			next := strings.IndexByte(text[end:], '\n')
			if next < 0 {
				return entries // a message that is being written
			}
			end += next + 1
			if !strings.HasPrefix(text[end:], "\t") {
				break
			}
		}
		if e, ok := parseEntry(text[:end-1]); ok {
			entries = append(entries, e)
		}
		text = text[end:]
	}
	return entries
}

// parseEntry reads one message with its prefix. What others write to standard
// error, as the shell or the dynamic linker, is none.
func parseEntry(message string) (entry, bool) {
	fields := strings.SplitN(message, "\t", 6)
	if len(fields) != 6 {
		return entry{}, false
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return entry{}, false
	}
	return entry{
		pid: pid, user: fields[2], database: fields[3],
		application: strings.TrimPrefix(fields[4], "[unknown]"), // how the server logs an empty one
		text:        strings.ReplaceAll(fields[5], "\n\t", "\n"),
	}, true
}

// statement returns what the message says was executed, if it does.
//
// Source: exec_simple_query and exec_execute_message in
// src/backend/tcop/postgres.c, PostgreSQL 15.
func (e entry) statement() (Statement, bool) {
	s := Statement{PID: e.pid, User: e.user, Database: e.database, Application: e.application}
	if sql, ok := strings.CutPrefix(e.text, "LOG:  statement: "); ok {
		s.SQL = sql
		return s, true
	}
	if rest, ok := strings.CutPrefix(e.text, "LOG:  execute "); ok && !strings.HasPrefix(rest, "fetch from ") {
		s.Prepared, s.SQL, ok = strings.Cut(rest, ": ")
		s.Prepared, _, _ = strings.Cut(s.Prepared, "/") // a named portal follows
		return s, ok
	}
	return Statement{}, false
}
