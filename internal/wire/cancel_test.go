package wire

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

func TestAWriteThatIsCancelledByRequestStillHasItsCapture(t *testing.T) {
	config := realServer(t)
	watcher := plainConnect(t, config(pgx.QueryExecModeExec))
	for _, mode := range []pgx.QueryExecMode{modes[0], pgx.QueryExecModeSimpleProtocol} {
		cfg := config(mode)
		cfg.BuildContextWatcherHandler = func(pg *pgconn.PgConn) ctxwatch.Handler {
			return &pgconn.CancelRequestContextWatcherHandler{Conn: pg, DeadlineDelay: bound}
		}
		c := connect(t, cfg)
		for _, p := range []path{
			{name: "exec with arguments", run: execPath("insert into t select $1 from pg_sleep(30)", "a")},
			{name: "exec without arguments", run: execPath("insert into t select 'a' from pg_sleep(30)")},
			{name: "insert returning", run: queryPath("insert into t select $1 from pg_sleep(30) returning v", "a")},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer cancel()
				for start := time.Now(); time.Since(start) < bound; {
					if busy(t, watcher, c.std.Conn().PgConn().PID(), true) {
						return
					}
				}
			}()
			c.shim.Arm(Flight{Capture: captureQuery})
			err := p.run(ctx, c)
			o := c.shim.Finish()
			<-ended
			if codeOf(err) != "57014" || !o.Ended || o.Status != 'I' || o.Broken || len(o.Tags) > 0 {
				t.Errorf("%s, %s: got %v, %+v", mode, p.name, err, o)
			}
			wantCapture(t, &o)
			o, err = one(t, c, Flight{Capture: captureQuery}, writePaths[0].run)
			if err != nil {
				t.Errorf("%s, %s: the next write: %v", mode, p.name, err)
			}
			wantCapture(t, &o)
		}
	}
}
