package topology_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgryw/pgryw/internal/topology"
)

// scripted is a server that answers our questions with what a test says, over
// pipes, so that it lives in a bubble of testing/synctest. It stands in for
// answers that a real server cannot be brought to give, and for hours.
//
// Concurrency: mu guards everything below it.
type scripted struct {
	mu         sync.Mutex
	system     uint64
	started    string
	recovering bool
	timeline   uint32
	position   string
	hotStandby string        // what in_hot_standby is reported as; nothing if empty
	pooled     bool          // the answers come from a process that is not the connection's
	mute       chan struct{} // until it is closed, questions are not answered; nil: they are
	refusal    string        // an SQLSTATE for every new connection
	pids       uint32        // of the last connection
	sessions   int
	probes     []time.Time // when the probe's question came
	conns      map[uint32]net.Conn
}

func primaryServer() *scripted {
	return &scripted{system: 7, started: "0002a0", timeline: 1, position: "0/3000000", conns: map[uint32]net.Conn{}}
}

func replicaServer() *scripted {
	s := primaryServer()
	s.started, s.recovering = "0002a1", true
	return s
}

// set changes what the server says.
func (s *scripted) set(change func(*scripted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// asked returns how often the probe has asked.
func (s *scripted) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.probes)
}

// dialled returns how many connections there have been.
func (s *scripted) dialled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// drop ends every connection, as a server that is stopped does.
func (s *scripted) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
}

// scriptedConfig returns a Config of scripted servers, and what it logs.
func scriptedConfig(t *testing.T, servers ...*scripted) (topology.Config, *log) {
	t.Helper()
	var dsns []string
	for i := range servers {
		dsns = append(dsns, fmt.Sprintf("postgres://u@10.0.0.%d/d?sslmode=disable", i+1))
	}
	cfg, log := config(t, 250*time.Millisecond, dsns...), newLog()
	for i, s := range servers {
		cfg.Nodes[i].Conn.DialFunc = s.dial
	}
	cfg.Logger = log.logger()
	return cfg, log
}

// startScripted starts a Cluster over scripted servers and waits until they are
// discovered. A bubble ends only when it is closed.
func startScripted(t *testing.T, servers ...*scripted) *topology.Cluster {
	t.Helper()
	cfg, _ := scriptedConfig(t, servers...)
	return start(t, cfg)
}

func (s *scripted) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.pids++
	client, server := net.Pipe()
	s.conns[s.pids] = server
	go s.serve(server, s.pids)
	return client, nil
}

// serve speaks the protocol on one connection until it ends.
func (s *scripted) serve(conn net.Conn, pid uint32) {
	defer conn.Close()
	b := pgproto3.NewBackend(conn, conn)
	first, err := b.ReceiveStartupMessage()
	if _, ok := first.(*pgproto3.StartupMessage); err != nil || !ok {
		s.mu.Lock()
		mute := s.mute
		s.mu.Unlock()
		if mute != nil {
			wait(conn, mute) // a cancel request, which a frozen server does not answer either
		}
		return
	}
	for s.greet(b, pid); b.Flush() == nil; {
		m, err := b.Receive()
		if err != nil {
			return
		}
		q, ok := m.(*pgproto3.Query)
		if !ok || !s.answer(conn, b, q.String, pid) {
			return
		}
	}
}

func (s *scripted) greet(b *pgproto3.Backend, pid uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	if s.refusal != "" {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: s.refusal, Message: "refused"})
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	if s.hotStandby != "" {
		b.Send(&pgproto3.ParameterStatus{Name: "in_hot_standby", Value: s.hotStandby})
	}
	b.Send(&pgproto3.BackendKeyData{ProcessID: pid, SecretKey: []byte{1, 2, 3, 4}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
}

// answer answers one simple Query, and reports whether the connection goes on.
func (s *scripted) answer(conn net.Conn, b *pgproto3.Backend, sql string, pid uint32) bool {
	s.mu.Lock()
	mute := s.mute
	if strings.Contains(sql, "r.recovering") {
		s.probes = append(s.probes, time.Now())
	}
	s.mu.Unlock()
	if mute != nil && !wait(conn, mute) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.row(sql, pid); row == nil {
		b.Send(&pgproto3.EmptyQueryResponse{})
	} else {
		sendRow(b, row)
	}
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	return true
}

// wait waits until a channel is closed, or until the client is gone.
func wait(conn net.Conn, until <-chan struct{}) bool {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.ReadFull(conn, make([]byte, 1)) // the client says nothing before it has its answer
	}()
	select {
	case <-until:
		_ = conn.SetReadDeadline(time.Now()) // let the reader go
		<-gone
		_ = conn.SetReadDeadline(time.Time{})
		return true
	case <-gone:
		return false
	}
}

// row returns the row that answers one of our questions; nil for a ping.
func (s *scripted) row(sql string, pid uint32) []string {
	recovering, timeline := "f", fmt.Sprintf("%08X", s.timeline)
	if s.recovering {
		recovering, timeline = "t", strconv.Itoa(int(s.timeline))
	}
	who := []string{strconv.FormatUint(s.system, 10), s.started, "10.0.0.1", "5432"}
	switch {
	case strings.Contains(sql, "r.recovering"):
		return append(who, recovering, s.position, s.position, timeline, "f")
	case strings.Contains(sql, "pg_backend_pid"):
		if s.pooled {
			pid += 1000
		}
		return append(who, strconv.Itoa(int(pid)), recovering, "8192", "1048576", "8", "read committed")
	}
	return nil
}

// null stands for NULL in a row.
const null = "NULL"

func sendRow(b *pgproto3.Backend, row []string) {
	fields := make([]pgproto3.FieldDescription, len(row))
	values := make([][]byte, len(row))
	for i, value := range row {
		fields[i] = pgproto3.FieldDescription{Name: []byte("c"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}
		if value != null {
			values[i] = []byte(value)
		}
	}
	b.Send(&pgproto3.RowDescription{Fields: fields})
	b.Send(&pgproto3.DataRow{Values: values})
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
}

// sleep lets time pass in a bubble, where it takes none.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// within returns a context that ends after a while.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
