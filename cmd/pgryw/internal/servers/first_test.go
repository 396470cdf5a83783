package servers

import (
	"context"
	"errors"
	"testing"
)

func TestTheFirstSourceThatIsThereIsTaken(t *testing.T) {
	missing := func(why string) func(context.Context, Options) (*Cluster, error) {
		return func(context.Context, Options) (*Cluster, error) { return nil, absent{why} }
	}
	there := func(context.Context, Options) (*Cluster, error) { return &Cluster{About: "second"}, nil }
	broken := func(context.Context, Options) (*Cluster, error) { return nil, errors.New("broken") }

	c, err := startFirst(t.Context(), Options{}, missing("no a"), there, broken)
	if err != nil || c.About != "second" {
		t.Errorf("got %v, %v, want the second source", c, err)
	}
	if c, err = startFirst(t.Context(), Options{}, missing("no a"), broken, there); err == nil || err.Error() != "broken" {
		t.Errorf("got %v, %v, want the error of the source that is there", c, err)
	}
	_, err = startFirst(t.Context(), Options{}, missing("no a"), missing("no b"))
	if want := "no PostgreSQL to run on: no a; no b"; !errors.Is(err, ErrAbsent) || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}
