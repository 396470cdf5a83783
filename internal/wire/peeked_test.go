package wire

import "net"

// peeked is a connection on which one can wait for what comes next without
// reading it.
//
// Concurrency: used by one goroutine at a time.
type peeked struct {
	net.Conn
	peek  chan struct{} // closed when first and err are set; nil if none is awaited
	first []byte
	err   error
}

// next returns a channel that is closed when the client has sent more, or has
// closed the connection. While a server stalls, that means that the client has
// given up.
func (p *peeked) next() <-chan struct{} {
	if p.peek == nil {
		p.peek = make(chan struct{})
		go func() {
			defer close(p.peek)
			b := make([]byte, 1)
			var n int
			n, p.err = p.Conn.Read(b)
			p.first = b[:n]
		}()
	}
	return p.peek
}

func (p *peeked) Read(b []byte) (int, error) {
	if p.peek == nil {
		return p.Conn.Read(b)
	}
	<-p.peek
	p.peek = nil
	return copy(b, p.first), p.err
}
