package wire

import (
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// scripted is a server that speaks the protocol as PostgreSQL does, has no
// data, and fails where it is told to.
//
// Concurrency: the fields above mu are set before the first connection. mu
// guards the rest.
type scripted struct {
	t        testing.TB
	listener net.Listener
	// reply answers a statement. Transaction control is answered without it.
	reply func(sql string) reply
	// noise has every message preceded by a notice, a notification and a
	// parameter status.
	noise bool
	// onebyte writes each byte by itself.
	onebyte bool

	mu       sync.Mutex
	sessions map[string]*session // by the client's address
	cancels  int
	done     sync.WaitGroup
}

// reply is what a statement comes to.
type reply struct {
	columns []string
	rows    [][]string // "NULL" is one
	tag     string
	code    string // an SQLSTATE instead
	empty   bool
	late    string // an SQLSTATE at the end of the transaction
}

// fault is what happens instead of message number at, counted from 0.
type fault struct {
	kind faultKind
	at   int
	// faultStall: reached is closed before the message, which is sent when hold
	// is closed, or never if the connection is closed first.
	reached, hold chan struct{}
}

func stallAt(at int) fault {
	return fault{kind: faultStall, at: at, reached: make(chan struct{}), hold: make(chan struct{})}
}

type faultKind int

const (
	faultNone faultKind = iota
	faultClose
	faultFatal
	faultStall
)

// newScripted starts a server that ends with the test.
func newScripted(t testing.TB, answer func(sql string) reply) *scripted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{t: t, listener: l, reply: answer, sessions: make(map[string]*session)}
	s.done.Go(s.accept)
	t.Cleanup(func() {
		_ = l.Close()
		s.done.Wait()
	})
	return s
}

func (s *scripted) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.done.Go(func() {
			defer c.Close()
			session := newSession(s, &peeked{Conn: c})
			s.mu.Lock()
			s.sessions[c.RemoteAddr().String()] = session
			s.mu.Unlock()
			session.run()
		})
	}
}

// config returns the configuration of a connection to the server.
func (s *scripted) config(mode pgx.QueryExecMode) *pgx.ConnConfig {
	s.t.Helper()
	host, port, _ := net.SplitHostPort(s.listener.Addr().String())
	cfg, err := pgx.ParseConfig("host=" + host + " port=" + port + " user=u database=d sslmode=disable")
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = mode
	return cfg
}

// failNext sets a fault of a client's connection; messages are counted from the
// next one on.
func (s *scripted) failNext(c *client, f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessionOf(c)
	session.fault, session.count = f, 0
}

// sent returns the number of messages sent to a client since failNext.
func (s *scripted) sent(c *client) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessionOf(c).count
}

// sessionOf returns the session at the other end of a connection. The caller
// holds mu.
func (s *scripted) sessionOf(c *client) *session {
	return s.sessions[c.std.Conn().PgConn().Conn().LocalAddr().String()]
}

// offline returns what the server sends in answer to what a client writes on a
// new connection, which is in no transaction.
func (s *scripted) offline(written []byte) []byte {
	return newSession(s, nil).answers(written)
}
