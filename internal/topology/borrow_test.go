package topology_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgryw/pgryw/internal/topology"
)

// pid returns the server process of a connection.
func pid(p *topology.Conn) uint32 { return p.Pgx().PgConn().PID() }

func TestAConnectionIsBorrowedAgain(t *testing.T) {
	c := start(t, config(t, onDemand, dsns(startCalm(t))...))
	p := primary(t, c)
	first, std := pid(p), p.Std()
	p.Release()
	p = primary(t, c)
	defer p.Release()
	if pid(p) != first || p.Std() != std {
		t.Errorf("got process %d, want %d", pid(p), first)
	}
	if p.Label() != "node0" || p.Node() != 0 || p.Closed() || p.TxStatus() != 'I' || !p.Current() || !p.Direct() || p.Shim() == nil || p.Serializable() {
		t.Errorf("got %+v", p)
	}
}

func TestAConnectionThatIsOfNoMoreUseIsNotGivenBack(t *testing.T) {
	c := start(t, config(t, onDemand, dsns(startCalm(t))...))
	for _, spoil := range []struct {
		name string
		by   func(t *testing.T, p *topology.Conn)
	}{
		{"in a transaction", func(t *testing.T, p *topology.Conn) { t.Helper(); exec(t, p, "BEGIN") }},
		{"closed", func(t *testing.T, p *topology.Conn) { t.Helper(); must(t, p.Pgx().Close(t.Context())) }},
		{"busy", func(t *testing.T, p *topology.Conn) {
			t.Helper()
			p.Pgx().PgConn().Exec(t.Context(), "SELECT generate_series(1, 100)")
		}},
	} {
		t.Run(spoil.name, func(t *testing.T) {
			p := primary(t, c)
			was := pid(p)
			spoil.by(t, p)
			p.Release()
			p = primary(t, c)
			defer p.Release()
			if pid(p) == was {
				t.Error("it is lent out again")
			}
			exec(t, p, "SELECT 1")
		})
	}
}

// TestAnIdleConnectionThatDiedIsReplaced needs an idle time of more than a
// second, as with pgxpool: a younger one is not pinged.
func TestAnIdleConnectionThatDiedIsReplaced(t *testing.T) {
	pg := startCalm(t)
	c := start(t, config(t, onDemand, dsns(pg)...))
	p := primary(t, c)
	was := pid(p)
	p.Release()
	released := time.Now()
	must(t, pg.Primary().Exec(t.Context(), fmt.Sprintf("SELECT pg_terminate_backend(%d)", was)))
	eventually(t, "it has idled for long enough", func() error {
		if idle := time.Since(released); idle < 1100*time.Millisecond {
			return fmt.Errorf("idle for %v", idle)
		}
		return nil
	})
	p = primary(t, c)
	defer p.Release()
	exec(t, p, "SELECT 1")
	if pid(p) == was {
		t.Error("the dead one is lent out again")
	}
}

func TestAConnectionLivesNoLongerThanItMay(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MaxConnLifetime = 300 * time.Millisecond
	c := start(t, cfg)
	p := primary(t, c)
	was := pid(p)
	p.Release()
	eventually(t, "another is made", func() error {
		p := primary(t, c)
		defer p.Release()
		if pid(p) == was {
			return errors.New("it still lives")
		}
		return nil
	})
}

func TestIdleConnectionsAreClosedDownToTheLeastNumber(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MinConns = 2
	cfg.Pool.MaxConnIdleTime = time.Millisecond
	cfg.Pool.HealthCheckPeriod = 10 * time.Millisecond
	c := start(t, cfg)
	var lent []*topology.Conn
	for range 5 {
		lent = append(lent, primary(t, c))
	}
	for _, p := range lent {
		p.Release()
	}
	for i := range c.Stats() {
		eventually(t, "two are left", func() error {
			if total := c.Stats()[i].Pool.Total; total != 2 {
				return fmt.Errorf("%d connections to node %d", total, i)
			}
			return nil
		})
	}
}

func TestALostConnectionIsMadeUpFor(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MinIdleConns = 1
	c := start(t, cfg)
	idle := func() error {
		if pool := c.Stats()[0].Pool; pool.Idle != 1 {
			return fmt.Errorf("got pool %+v", pool)
		}
		return nil
	}
	eventually(t, "one is idle", idle)
	p := primary(t, c)
	was := pid(p)
	p.Destroy()
	eventually(t, "one is idle again", idle)
	p = primary(t, c)
	defer p.Release()
	if pid(p) == was {
		t.Error("it is the one that was closed")
	}
}

func TestTheLimitOfAPoolHolds(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MaxConns = 1
	c := start(t, cfg)
	for _, node := range []int{0, 1} {
		borrow := func(ctx context.Context) (*topology.Conn, error) {
			if node == 0 {
				return c.Primary(ctx)
			}
			return c.Replica(ctx, node, true)
		}
		p, err := borrow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := borrow(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("node %d: got %v, want DeadlineExceeded", node, err)
		}
		cancel()
		got := make(chan error)
		go func() {
			p, err := borrow(t.Context())
			if err == nil {
				p.Release()
			}
			got <- err
		}()
		p.Release()
		if err := <-got; err != nil {
			t.Errorf("node %d: %v", node, err)
		}
	}
}

func TestWhoMayNotQueueDoesNot(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	cfg.Pool.MaxConns = 1
	c := start(t, cfg)
	p, err := c.Replica(t.Context(), 1, false)
	if err != nil {
		t.Fatalf("there is room for one: %v", err)
	}
	if _, err := c.Replica(t.Context(), 1, false); !errors.Is(err, topology.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	p.Release()
	p, err = c.Replica(t.Context(), 1, false)
	if err != nil {
		t.Fatalf("one is idle: %v", err)
	}
	p.Release()
}

func TestAPrimaryIsNotLentOutAsAReplica(t *testing.T) {
	c := start(t, config(t, onDemand, dsns(startCalm(t))...))
	if _, err := c.Replica(t.Context(), 0, true); err == nil {
		t.Error("it is")
	}
}

func TestHooksRunForEveryConnection(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	names := make(chan string, 10)
	cfg.BeforeConnect = func(_ context.Context, cfg *pgx.ConnConfig) error {
		cfg.RuntimeParams["application_name"] = "hooked" // a map of its own
		return nil
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		var name string
		err := conn.QueryRow(ctx, "SHOW application_name").Scan(&name)
		names <- name
		return err
	}
	c := start(t, cfg)
	primary(t, c).Release()
	for range 4 { // three probes and a borrower
		if name := <-names; name != "hooked" {
			t.Errorf("got %q", name)
		}
	}
	for _, n := range cfg.Nodes {
		if name, ok := n.Conn.RuntimeParams["application_name"]; ok {
			t.Errorf("the configuration was changed to %q", name)
		}
	}
}

func TestAFailingHookClosesItsConnection(t *testing.T) {
	refused := errors.New("refused")
	cfg := config(t, onDemand, startCalm(t).Primary().DSN())
	var refusedConn *pgx.Conn
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		refusedConn = conn
		return refused
	}
	c := start(t, cfg)
	if _, err := c.Primary(t.Context()); err != refused { //nolint:errorlint // the very error
		t.Errorf("got %v, want %v", err, refused)
	}
	if refusedConn == nil || !refusedConn.IsClosed() {
		t.Error("the connection is left open")
	}
	cfg.AfterConnect = nil
	cfg.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { return refused }
	if _, err := start(t, cfg).Primary(t.Context()); err != refused { //nolint:errorlint // the very error
		t.Errorf("got %v, want %v", err, refused)
	}
}

func TestAFailingHookOfAProbeIsTheNodesError(t *testing.T) {
	cfg := config(t, onDemand, dsns(startCalm(t))...)
	refused := errors.New("refused")
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error { return refused }
	c := start(t, cfg)
	if _, err := c.Primary(t.Context()); !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
}

// TestABorrowerThatGivesUpLeavesTheConnectionToTheNext cancels a borrower while
// its connection is being made.
func TestABorrowerThatGivesUpLeavesTheConnectionToTheNext(t *testing.T) {
	cfg := config(t, onDemand, startCalm(t).Primary().DSN())
	begun, goOn := make(chan struct{}), make(chan struct{})
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error {
		close(begun)
		<-goOn
		return nil
	}
	c := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() {
		_, err := c.Primary(ctx)
		got <- err
	}()
	<-begun
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
	close(goOn) // the hook would close begun twice if another were made
	eventually(t, "it is idle", func() error {
		if pool := c.Stats()[0].Pool; pool.Idle != 1 {
			return fmt.Errorf("got pool %+v", pool)
		}
		return nil
	})
	primary(t, c).Release()
}
