package topology_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// log keeps what is logged.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func newLog() *log { return &log{} }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// count returns how many lines hold a text.
func (l *log) count(text string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// disguise changes the process ID in the key data of the connections that dial
// makes.
func disguise(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &disguised{Conn: conn}, nil
	}
}

type disguised struct {
	net.Conn
	done bool
}

func (d *disguised) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	keyData := []byte{'K', 0, 0, 0, 12}
	if i := bytes.Index(b[:n], keyData); !d.done && i >= 0 && i+len(keyData)+4 <= n {
		b[i+len(keyData)+3] ^= 0xff
		d.done = true
	}
	return n, err
}
