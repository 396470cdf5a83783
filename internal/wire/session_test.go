package wire

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// session is one connection to a scripted server.
type session struct {
	s          *scripted
	conn       *peeked
	in         *pgproto3.Backend
	out        []byte
	status     byte
	skipping   bool // until Sync, after an error
	statements map[string]string
	portal     string // the text bound to the unnamed portal
	late       string
	cut        bool // the connection's end has come

	fault fault // guarded by s.mu, as is count
	count int   // messages sent since the fault was set
}

func newSession(s *scripted, c *peeked) *session {
	return &session{
		s: s, conn: c, status: 'I',
		statements: make(map[string]string),
	}
}

var errCut = errors.New("the server cut the connection")

func (c *session) run() {
	c.in = pgproto3.NewBackend(c.conn, c.conn)
	startup, err := c.in.ReceiveStartupMessage()
	if err != nil {
		return
	}
	if _, ok := startup.(*pgproto3.CancelRequest); ok {
		c.s.mu.Lock()
		c.s.cancels++
		c.s.mu.Unlock()
		return
	}
	for _, m := range []pgproto3.BackendMessage{
		&pgproto3.AuthenticationOk{},
		&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"},
		&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"},
		&pgproto3.BackendKeyData{ProcessID: 7, SecretKey: []byte{1, 2, 3, 4}},
		&pgproto3.ReadyForQuery{TxStatus: 'I'},
	} {
		c.out, _ = m.Encode(c.out)
	}
	if c.flush() != nil {
		return
	}
	for {
		msg, err := c.in.Receive()
		if err != nil {
			return
		}
		if _, ok := msg.(*pgproto3.Terminate); ok {
			return
		}
		if c.answer(msg) != nil || c.cut {
			return
		}
	}
}

// answers returns what the server sends in answer to what a client writes.
func (c *session) answers(written []byte) []byte {
	for len(written) > 0 {
		size := 1 + int(binary.BigEndian.Uint32(written[1:]))
		m := decodeFrontend(c.s.t, written[0], written[5:size])
		if err := c.answer(m); err != nil {
			c.s.t.Fatal(err)
		}
		written = written[size:]
	}
	return c.out
}

func decodeFrontend(t testing.TB, kind byte, body []byte) pgproto3.FrontendMessage {
	t.Helper()
	var m pgproto3.FrontendMessage
	switch kind {
	case 'P':
		m = new(pgproto3.Parse)
	case 'B':
		m = new(pgproto3.Bind)
	case 'D':
		m = new(pgproto3.Describe)
	case 'E':
		m = new(pgproto3.Execute)
	case 'C':
		m = new(pgproto3.Close)
	case 'S':
		m = new(pgproto3.Sync)
	case 'Q':
		m = new(pgproto3.Query)
	default:
		t.Fatalf("message %q", kind)
	}
	if err := m.Decode(body); err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *session) answer(msg pgproto3.FrontendMessage) error {
	switch m := msg.(type) {
	case *pgproto3.Sync:
		c.skipping = false
		return c.ready()
	case *pgproto3.Query:
		c.skipping = false
		for _, text := range statementsOf(m.String) {
			if !c.execute(text, true) {
				break
			}
		}
		c.skipping = false
		return c.ready()
	}
	if c.skipping {
		return nil
	}
	switch m := msg.(type) {
	case *pgproto3.Parse:
		if _, exists := c.statements[m.Name]; exists && m.Name != "" {
			return c.fail("42P05")
		}
		if c.status == 'E' {
			return c.fail("25P02")
		}
		if r := c.s.reply(m.Query); r.code == "42601" {
			return c.fail(r.code)
		}
		c.statements[m.Name] = m.Query
		return c.send(&pgproto3.ParseComplete{})
	case *pgproto3.Bind:
		text, ok := c.statements[m.PreparedStatement]
		if !ok {
			return c.fail("26000")
		}
		if c.status == 'E' && !endsTransaction(text) {
			return c.fail("25P02")
		}
		c.portal = text
		return c.send(&pgproto3.BindComplete{})
	case *pgproto3.Describe:
		text := c.portal
		if m.ObjectType == 'S' {
			text = c.statements[m.Name]
			oids := make([]uint32, strings.Count(text, "$"))
			for i := range oids {
				oids[i] = 25
			}
			if err := c.send(&pgproto3.ParameterDescription{ParameterOIDs: oids}); err != nil {
				return err
			}
		}
		return c.describe(c.s.reply(text))
	case *pgproto3.Execute:
		c.execute(c.portal, false)
		return nil
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(c.statements, m.Name)
		}
		return c.send(&pgproto3.CloseComplete{})
	}
	return nil
}

// execute answers one statement, and returns whether it succeeded.
func (c *session) execute(text string, simple bool) bool {
	r := c.control(text)
	if r.tag == "" {
		r = c.s.reply(text)
	}
	switch {
	case r.empty:
		return c.send(&pgproto3.EmptyQueryResponse{}) == nil
	case c.status == 'E' && !endsTransaction(text):
		_ = c.fail("25P02")
		return false
	}
	if simple && r.columns != nil {
		if c.describe(r) != nil {
			return false
		}
	}
	for _, row := range r.rows {
		values := make([][]byte, len(row))
		for i, v := range row {
			if v != "NULL" {
				values[i] = []byte(v)
			}
		}
		if c.send(&pgproto3.DataRow{Values: values}) != nil {
			return false
		}
	}
	if r.code != "" {
		_ = c.fail(r.code)
		return false
	}
	if r.late != "" {
		c.late = r.late
	}
	return c.send(&pgproto3.CommandComplete{CommandTag: []byte(r.tag)}) == nil
}

// control answers transaction control and what drops statements.
func (c *session) control(text string) reply {
	switch strings.ToLower(text) {
	case "begin", "begin read only":
		c.status = 'T'
		return reply{tag: "BEGIN"}
	case "commit":
		failed := c.status == 'E'
		c.status = 'I'
		if failed {
			return reply{tag: "ROLLBACK"}
		}
		return reply{tag: "COMMIT"}
	case "rollback":
		c.status = 'I'
		return reply{tag: "ROLLBACK"}
	case "commit and chain":
		return reply{tag: "COMMIT"}
	case "discard all":
		clear(c.statements)
		return reply{tag: "DISCARD ALL"}
	case "deallocate all":
		clear(c.statements)
		return reply{tag: "DEALLOCATE ALL"}
	}
	return reply{}
}

func endsTransaction(text string) bool {
	switch strings.ToLower(text) {
	case "commit", "rollback":
		return true
	}
	return false
}

// statementsOf splits a simple Query, which never holds quotes here.
func statementsOf(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part != "" || len(list) == 0 && !strings.Contains(text, ";") {
			list = append(list, part)
		}
	}
	return list
}

func (c *session) describe(r reply) error {
	if r.columns == nil {
		return c.send(&pgproto3.NoData{})
	}
	fields := make([]pgproto3.FieldDescription, len(r.columns))
	for i, name := range r.columns {
		fields[i] = pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}
	}
	return c.send(&pgproto3.RowDescription{Fields: fields})
}

func (c *session) fail(code string) error {
	c.skipping = true
	if c.status == 'T' {
		c.status = 'E'
	}
	return c.send(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: "scripted"})
}

func (c *session) ready() error {
	if c.late != "" {
		code := c.late
		c.late = ""
		if err := c.fail(code); err != nil {
			return err
		}
		c.skipping = false
	}
	if err := c.send(&pgproto3.ReadyForQuery{TxStatus: c.status}); err != nil {
		return err
	}
	return c.flush()
}

// send queues a message, as the server does until the next ReadyForQuery, or
// does what the fault says.
func (c *session) send(m pgproto3.BackendMessage) error {
	if c.cut {
		return errCut
	}
	c.s.mu.Lock()
	f, n := c.fault, c.count
	c.count++
	c.s.mu.Unlock()
	if f.kind != faultNone && n == f.at {
		return c.suffer(f, m)
	}
	c.queue(m)
	return nil
}

func (c *session) suffer(f fault, m pgproto3.BackendMessage) error {
	c.cut = true
	switch f.kind {
	case faultFatal:
		c.queue(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01", Message: "scripted"})
	case faultStall:
		if err := c.flush(); err != nil {
			return err
		}
		close(f.reached)
		select {
		case <-f.hold:
			c.cut = false
			c.queue(m)
			return nil
		case <-c.conn.next():
			return errCut
		}
	}
	_ = c.flush()
	_ = c.conn.Close()
	return errCut
}

func (c *session) queue(m pgproto3.BackendMessage) {
	if c.s.noise {
		for _, noise := range []pgproto3.BackendMessage{
			&pgproto3.NoticeResponse{Severity: "NOTICE", Code: "00000", Message: "noise"},
			&pgproto3.NotificationResponse{PID: 1, Channel: "c", Payload: "noise"},
			&pgproto3.ParameterStatus{Name: "noise", Value: "loud"},
		} {
			c.out, _ = noise.Encode(c.out)
		}
	}
	c.out, _ = m.Encode(c.out)
}

func (c *session) flush() error {
	if c.conn == nil {
		return nil
	}
	out := c.out
	c.out = c.out[:0]
	if !c.s.onebyte {
		_, err := c.conn.Write(out)
		return err
	}
	for i := range out {
		if _, err := c.conn.Write(out[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}
