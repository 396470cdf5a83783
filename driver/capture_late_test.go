package driver_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// TestACommittedWriteStaysASuccess has the answer to the capture fail to come,
// in three ways, behind each write: the write is a success, its reads go to the
// primary, and the connection, whose next answer would be the capture's, is
// closed.
func TestACommittedWriteStaysASuccess(t *testing.T) {
	t.Parallel()
	c := pgcluster.New(t, pgcluster.Options{Standbys: 1, Setup: calmSetup})
	if err := c.Standby(0).PauseReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, c.Primary())
	for _, way := range []struct {
		name    string
		fault   fault
		timeout time.Duration
		cancel  bool
	}{
		{"the capture's time is up", stall, 50 * time.Millisecond, false},
		{"the context has ended", stall, time.Minute, true},
		{"the connection is lost", cut, time.Minute, false},
	} {
		for i, tt := range doomed {
			if tt.name == "several statements" {
				continue // may leave a transaction open: its capture is a flight of its own
			}
			t.Run(way.name+", "+tt.name, func(t *testing.T) {
				held := make(chan struct{}, 10)
				cfg := parse(t, p.dsn(c)+"&pgryw.capture_timeout="+way.timeout.String())
				cfg.BeforeConnect = func(_ context.Context, cfg *pgx.ConnConfig) error {
					cfg.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) { held <- struct{}{} }
					return nil
				}
				db, routes := openConfig(t, cfg)
				id := fmt.Sprint(way.fault, way.cancel, i)
				run(t, c, fmt.Sprintf(`INSERT INTO counter VALUES ('%s', 0)`, id))
				if err := tt.write(t.Context(), db, id); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				closed := p.arm(way.fault, cmp.Or(tt.mark, id))
				result := make(chan error, 1)
				go func() { result <- tt.write(ctx, db, id) }()
				if way.cancel {
					<-held // the ReadyForQuery, before the notice behind it
					cancel()
				}
				if err := <-result; err != nil {
					t.Errorf("got %v, want a success", err)
				}
				<-closed
				if n, err := get(t.Context(), db, id); err != nil || n != 2 {
					t.Errorf("got %d, %v, want 2", n, err)
				}
				if d := routes.Last(); d.Reason != router.ReasonUncertain {
					t.Errorf("the first read: got %s from %s, want uncertain", d.Reason, d.Label)
				}
				if n, err := get(t.Context(), db, id); err != nil || n != 2 || routes.Last().Reason == router.ReasonUncertain {
					t.Errorf("the second read: got %d, %v, %s", n, err, routes.Last().Reason)
				}
			})
		}
	}
}
