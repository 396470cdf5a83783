package servers

import (
	"errors"
	"os"
	"testing"
)

func TestLocalServersHaveThePortsThatAreAskedFor(t *testing.T) {
	port, err := freePorts(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(t.Context(), Options{Source: Local, Standbys: 1, Port: port})
	if errors.Is(err, ErrAbsent) && os.Getenv("PGRYW_REQUIRE_POSTGRES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if got, want := c.Addr(i), addr(port+i); got != want {
			t.Errorf("server %d: got %s, want %s", i, got, want)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
