package bench

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/pgryw/pgryw/internal/pgcluster"
)

func TestTableIsAligned(t *testing.T) {
	got := Table([]Result{
		{Case: "write", Plain: 1500 * time.Microsecond, ByHand: 3 * time.Millisecond, Pgryw: 1545 * time.Microsecond, PlainTrips: 1, ByHandTrips: 2, PgrywTrips: 1},
		{Case: "read on the primary", Plain: time.Millisecond, Pgryw: time.Millisecond, PlainTrips: 1, PgrywTrips: 1, Guarded: 0.5},
	})
	const want = `                           pgx  trips  by hand  trips    pgryw  trips  by hand/pgx  pgryw/pgx
                write  1500 µs      1  3000 µs      2  1545 µs      1         2.00       1.03
  read on the primary  1000 µs      1        -      -  1000 µs      1            -       1.00
read on the primary: 50 % of pgryw's reads carried a guard
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestProxyKeepsTheOrderAndCountsRoundTrips sends pieces to a server that
// answers each of them.
func TestProxyKeepsTheOrderAndCountsRoundTrips(t *testing.T) {
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(c, c) // the client sees what comes back
		_ = c.Close()
	}()
	p, err := newProxy(t.Context(), server.Addr().String(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range byte(20) {
		if _, err := c.Write([]byte{i}); err != nil {
			t.Fatal(err)
		}
		var got [1]byte
		if _, err := io.ReadFull(c, got[:]); err != nil || got[0] != i {
			t.Fatalf("got %d, %v, want %d", got[0], err, i)
		}
	}
	if got := p.trips.Load(); got != 20 {
		t.Errorf("got %d round trips, want 20", got)
	}
}

// TestNothingTakesMoreRoundTripsThanPlainPgx is what the driver promises of its
// cost, on real servers.
func TestNothingTakesMoreRoundTripsThanPlainPgx(t *testing.T) {
	results, err := Run(t.Context(), Options{Rounds: 15})
	if errors.Is(err, pgcluster.ErrNoBinaries) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.PgrywTrips > r.PlainTrips {
			t.Errorf("%s: got %v round trips, plain pgx takes %v", r.Case, r.PgrywTrips, r.PlainTrips)
		}
		if r.ByHand > 0 && r.ByHandTrips <= r.PlainTrips {
			t.Errorf("%s: got %v round trips by hand, want more than pgx's %v", r.Case, r.ByHandTrips, r.PlainTrips)
		}
	}
}
