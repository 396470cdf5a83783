package driver_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

// fault is what befalls the connection on which a client has sent a marked
// message.
type fault int

const (
	// lose drops the server's answer, and cuts the connection once the server
	// has given it.
	lose fault = iota
	// stall passes the answer on up to its first ReadyForQuery, sends a notice,
	// and nothing after that.
	stall
	// cut cuts the connection behind the first ReadyForQuery.
	cut
)

// proxy stands between the driver and one server, and does what a network may.
type proxy struct {
	addr   string
	server string

	mu     sync.Mutex
	mark   []byte        // a client's message with this in it is marked; guarded by mu
	fault  fault         // guarded by mu
	closed chan struct{} // closed when the client has closed the connection struck; guarded by mu
	conns  []net.Conn    // guarded by mu
}

// startProxy starts a proxy of a server, and ends it with the test.
func startProxy(t *testing.T, server *pgcluster.Node) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: listener.Addr().String(), server: server.Addr()}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		work.Wait()
	})
	return p
}

// dsn returns the URL of a cluster with the proxy in place of its server.
func (p *proxy) dsn(c *pgcluster.Cluster) string {
	return strings.Replace(c.DSN(), p.server, p.addr, 1)
}

// arm prepares a fault for the connection on which the next message comes that
// has mark in it. The channel is closed when the client has closed it.
func (p *proxy) arm(f fault, mark string) (closed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.fault = []byte(mark), f
	p.closed = make(chan struct{})
	return p.closed
}

// strike reports whether the fault befalls the connection on which a client
// sends b, and disarms it if so.
func (p *proxy) strike(b []byte) (s stroke, yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mark == nil || !bytes.Contains(b, p.mark) {
		return stroke{}, false
	}
	p.mark = nil
	return stroke{p.fault, p.closed}, true
}

// stroke is a fault on its way.
type stroke struct {
	fault  fault
	closed chan struct{}
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server) // it is next door
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	strokes := make(chan stroke, 1)
	go func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		var mine *stroke
		for {
			n, err := client.Read(buf)
			if s, yes := p.strike(buf[:n]); yes {
				mine = &s
				strokes <- s
			}
			if err != nil {
				if mine != nil {
					close(mine.closed)
				}
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	answer(client, server, strokes)
}

// answer passes the server's messages on to the client until a fault, or the
// end of either, and then closes the client's side.
func answer(client, server net.Conn, strokes <-chan stroke) {
	defer client.Close()
	var now *stroke
	for {
		kind, message, err := receive(server)
		if err != nil {
			return
		}
		select {
		case s := <-strokes: // before the answer came, or the client would not have it
			now = &s
		default:
		}
		if now == nil || now.fault != lose {
			if _, err := client.Write(message); err != nil {
				return
			}
		}
		if now == nil || kind != 'Z' {
			continue
		}
		if now.fault == stall {
			_, _ = client.Write([]byte("N\x00\x00\x00\x1dSNOTICE\x00C00000\x00Mstalled\x00\x00"))
			_, _ = io.Copy(io.Discard, server)
		}
		return
	}
}

// receive reads one message of the server.
func receive(server net.Conn) (kind byte, message []byte, err error) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(server, header); err != nil {
		return 0, nil, err
	}
	message = make([]byte, 1+binary.BigEndian.Uint32(header[1:]))
	copy(message, header)
	_, err = io.ReadFull(server, message[len(header):])
	return header[0], message, err
}
