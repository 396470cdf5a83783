// Package bench measures what the driver costs beside plain pgx, on real
// servers, through a proxy that makes a round trip take as long as wanted.
package bench

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy passes connections on to one server, and every byte half a round trip
// late in either direction. It counts round trips: the times that a client has
// sent something after the server had.
type proxy struct {
	listener net.Listener
	target   string
	half     time.Duration
	trips    atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]struct{} // guarded by mu
	work  sync.WaitGroup
}

// newProxy starts a proxy on a free port of the loopback.
func newProxy(ctx context.Context, target string, roundTrip time.Duration) (*proxy, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, half: roundTrip / 2, conns: make(map[net.Conn]struct{})}
	p.work.Go(p.accept)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// close ends the proxy and its connections, and waits for both.
func (p *proxy) close() {
	_ = p.listener.Close() // it only stops accept
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close() // its users find out
	}
	p.conns = nil
	p.mu.Unlock()
	p.work.Wait()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).Dial("tcp", p.target)
		if err != nil || !p.keep(client, server) {
			_ = client.Close() // the client finds out
			continue
		}
		var answered atomic.Bool
		answered.Store(true)
		p.work.Go(func() {
			p.pass(server, client, func() {
				if answered.Swap(false) {
					p.trips.Add(1)
				}
			})
		})
		p.work.Go(func() { p.pass(client, server, func() { answered.Store(true) }) })
	}
}

// keep notes connections that close has to end; false if it has been called.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.conns == nil {
			_ = c.Close() // the proxy is at its end
			continue
		}
		p.conns[c] = struct{}{}
	}
	return p.conns != nil
}

// parcel is bytes that are due at an instant.
type parcel struct {
	bytes []byte
	due   time.Time
}

// pass reads from one connection and writes to the other, in order and late.
func (p *proxy) pass(to, from net.Conn, seen func()) {
	parcels := make(chan parcel, 1024)
	p.work.Go(func() {
		for late := range parcels {
			if wait := time.Until(late.due); wait > 0 {
				<-time.After(wait)
			}
			if _, err := to.Write(late.bytes); err != nil {
				break
			}
		}
		for range parcels { // so that the reader is not held up
		}
		_ = to.Close() // the other direction ends with it
	})
	defer close(parcels)
	for {
		buf := make([]byte, 16<<10)
		n, err := from.Read(buf)
		if n > 0 {
			seen()
			parcels <- parcel{buf[:n], time.Now().Add(p.half)}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close() // it is of no more use
			}
			return
		}
	}
}
