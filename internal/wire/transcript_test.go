package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// recorder writes down what passes on a connection, message by message.
//
// Concurrency: mu guards all below it.
type recorder struct {
	mu     sync.Mutex
	on     bool
	writes int
	lines  []string
	back   []byte // of a message that is not complete
	seen   int    // messages of the server
	at     int    // when so many have been seen,
	then   func() // this is called
}

// after has f called when n messages of the server have been read.
func (r *recorder) after(n int, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.then = n, f
}

// dial has the first connection of cfg recorded; later ones bring cancel
// requests. It must not speak TLS.
func (r *recorder) dial(cfg *pgconn.Config) {
	next := cfg.DialFunc
	var dialled atomic.Bool
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := next(ctx, network, addr)
		if err != nil || dialled.Swap(true) {
			return c, err
		}
		return &recordedConn{Conn: c, r: r}, nil
	}
}

// start begins a transcript.
func (r *recorder) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.writes, r.lines, r.back, r.seen = true, 0, nil, nil, 0
}

// stop ends the transcript and returns it, with the number of Writes.
func (r *recorder) stop() (text string, writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = false
	return strings.Join(r.lines, "\n"), r.writes
}

type recordedConn struct {
	net.Conn
	r *recorder
}

func (c *recordedConn) Write(p []byte) (int, error) {
	c.r.wrote(p)
	return c.Conn.Write(p)
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.r.read(p[:n])
	return n, err
}

func (r *recorder) wrote(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	r.writes++
	r.lines = append(r.lines, fmt.Sprintf("write %d", r.writes))
	for len(p) > 0 {
		size := 1 + int(binary.BigEndian.Uint32(p[1:]))
		r.lines = append(r.lines, "  F "+frontendText(p[0], p[5:size]))
		p = p[size:]
	}
}

func (r *recorder) read(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	r.back = append(r.back, p...)
	for len(r.back) >= 5 {
		size := 1 + int(binary.BigEndian.Uint32(r.back[1:]))
		if size > len(r.back) {
			return
		}
		r.lines = append(r.lines, "  B "+backendText(r.back[0], r.back[5:size]))
		r.back = r.back[size:]
		if r.seen++; r.seen == r.at && r.then != nil {
			r.then()
		}
	}
}

// frontendText describes a message of the client.
func frontendText(kind byte, body []byte) string {
	switch kind {
	case 'P':
		var m pgproto3.Parse
		_ = m.Decode(body)
		return fmt.Sprintf("Parse %q %q", shortName(m.Name), m.Query)
	case 'B':
		var m pgproto3.Bind
		_ = m.Decode(body)
		return fmt.Sprintf("Bind %q %q", shortName(m.PreparedStatement), m.Parameters)
	case 'D':
		return fmt.Sprintf("Describe %c", body[0])
	case 'E':
		return "Execute"
	case 'C':
		return fmt.Sprintf("Close %c %q", body[0], shortName(strings.TrimSuffix(string(body[1:]), "\x00")))
	case 'S':
		return "Sync"
	case 'Q':
		return fmt.Sprintf("Query %q", strings.TrimSuffix(string(body), "\x00"))
	case 'X':
		return "Terminate"
	}
	return fmt.Sprintf("%c %d bytes", kind, len(body))
}

// shortName leaves out the digest in the names of pgx's statements.
func shortName(name string) string {
	if i := strings.IndexByte(name, '_'); i > 0 && len(name) > 40 {
		return name[:i+1] + "..."
	}
	return name
}

// backendText describes a message of the server, without what differs from run
// to run.
func backendText(kind byte, body []byte) string {
	switch kind {
	case '1':
		return "ParseComplete"
	case '2':
		return "BindComplete"
	case '3':
		return "CloseComplete"
	case 'n':
		return "NoData"
	case 't':
		return "ParameterDescription"
	case 'T':
		var m pgproto3.RowDescription
		_ = m.Decode(body)
		var names []string
		for _, f := range m.Fields {
			names = append(names, string(f.Name))
		}
		return fmt.Sprintf("RowDescription %q", names)
	case 'D':
		return "DataRow"
	case 'C':
		return fmt.Sprintf("CommandComplete %q", strings.TrimSuffix(string(body), "\x00"))
	case 'I':
		return "EmptyQueryResponse"
	case 'E':
		var m pgproto3.ErrorResponse
		_ = m.Decode(body)
		return "ErrorResponse " + m.Severity + " " + m.Code
	case 'Z':
		return "ReadyForQuery " + string(body)
	case 'N':
		return "NoticeResponse"
	case 'A':
		return "NotificationResponse"
	case 'S':
		return "ParameterStatus"
	}
	return fmt.Sprintf("%c %d bytes", kind, len(body))
}
