package main

import (
	"errors"
	"io"
	"testing"
)

func TestBenchRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{{"--rtt", "2s"}, {"--rtt", "soon"}, {"--rounds", "0"}, {"--nothing"}, {"extra"}} {
		var usage usageError
		if _, err := parseBenchFlags(args, io.Discard); !errors.As(err, &usage) {
			t.Errorf("%q: got %v, want a usageError", args, err)
		}
	}
}
