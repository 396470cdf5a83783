package wire

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// slowConn is a connection whose Writes take until pgx has begun to read behind
// them, which it does after 15 ms so that client and server cannot both be
// stuck in a write. From then on its answers come through pgx's background
// reader.
type slowConn struct {
	net.Conn
	slow    atomic.Bool
	reading chan struct{}
}

func (c *slowConn) Write(p []byte) (int, error) {
	if c.slow.Load() {
		<-c.reading
	}
	return c.Conn.Write(p)
}

func (c *slowConn) Read(p []byte) (int, error) {
	if c.slow.Load() {
		select {
		case c.reading <- struct{}{}:
		default:
		}
	}
	return c.Conn.Read(p)
}

// slowly opens a connection whose Writes are slow from now on.
func slowly(t *testing.T, cfg *pgx.ConnConfig) (*client, *slowConn) {
	t.Helper()
	var first *slowConn
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil || first != nil {
			return conn, err
		}
		first = &slowConn{Conn: conn, reading: make(chan struct{}, 1)}
		return first, nil
	}
	return connect(t, cfg), first
}

func TestAFlightWhoseAnswersAreReadInTheBackgroundIsLikeAnyOther(t *testing.T) {
	server := newScripted(t, scriptedReply)
	for _, tr := range transcripts {
		for _, p := range tr.paths {
			for _, mode := range modes[:2] {
				t.Run(fmt.Sprintf("%s/%s/%s", tr.file, p.name, mode), func(t *testing.T) {
					c, conn := slowly(t, server.config(mode))
					prepare(t, c, p)
					conn.slow.Store(true)
					o, err := one(t, c, tr.flight, p.run)
					conn.slow.Store(false)
					if err != nil {
						t.Fatal(err)
					}
					tr.check(t, &o)
				})
			}
		}
	}
}

func TestAHeldWriteThatIsReadInTheBackgroundIsLetGoAtItsTimeoutAndAtTheContextsEnd(t *testing.T) {
	server := newScripted(t, scriptedReply)
	p := writePaths[1]
	kinds, ready := answersOf(t, server, modes[0], p, Flight{Capture: captureQuery})
	for _, timeout := range []time.Duration{20 * time.Millisecond, time.Hour} {
		for at := ready + 1; at < len(kinds); at++ {
			cfg := server.config(modes[0])
			var rec recorder
			rec.dial(&cfg.Config)
			c, conn := slowly(t, cfg)
			ctx, cancel := context.WithCancel(t.Context())
			if timeout == time.Hour {
				rec.after(at, cancel)
			}
			server.failNext(c, stallAt(at))
			rec.start()
			conn.slow.Store(true)
			c.shim.Arm(Flight{Capture: captureQuery, Timeout: timeout})
			err := p.run(ctx, c)
			o := c.shim.Finish()
			conn.slow.Store(false)
			if err != nil || !o.Ended {
				t.Errorf("message %d: got %v, %+v, want success", at, err, o)
			}
			wantUnanswered(t, &o, faultStall)
			refusesWrites(t, c)
			cancel()
		}
	}
}
