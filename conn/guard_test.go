package conn_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/driver"
)

// canceler is a tracer that cancels a read which ends on one server.
type canceler struct {
	port   uint16
	cancel atomic.Pointer[context.CancelFunc]
	hits   atomic.Int32
}

func (c *canceler) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (c *canceler) TraceQueryEnd(_ context.Context, conn *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel := c.cancel.Load(); cancel != nil && conn.Config().Port == c.port {
		c.hits.Add(1)
		(*cancel)()
	}
}

// TestAReadWhoseGuardFailsAsItIsCanceledIsCanceled has the context of a read end
// at the moment in which its replica turns out to be behind.
func TestAReadWhoseGuardFailsAsItIsCanceledIsCanceled(t *testing.T) {
	cluster := start(t)
	c := &canceler{port: uint16(cluster.Standby(0).Port())}
	for i := 0; c.hits.Load() == 0; i++ {
		if i == 100 {
			t.Fatal("no guard was asked")
		}
		c.cancel.Store(nil)
		h := open(t, cluster, "", func(cfg *driver.Config) { cfg.Tracer = c })
		exec(t.Context(), t, h, put("canceled "+strconv.Itoa(i)))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.cancel.Store(&cancel)
		var n int
		err := h.QueryRowContext(ctx, `SELECT count(*) FROM mark`).Scan(&n)
		if c.hits.Load() > 0 && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context was canceled", err)
		}
	}
}
