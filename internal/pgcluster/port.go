package pgcluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the ephemeral ranges of Linux (32768) and Darwin
// (49152): a client that dials a stopped server's port there can be given that
// very port for itself, which connects it to itself and keeps the server from
// coming back.
const (
	minPort = 15000
	maxPort = 30000
)

// freePort returns a port of 127.0.0.1 that nobody listens on now. Somebody may
// by the time it is used.
func freePort(ctx context.Context) (int, error) {
	for range 100 {
		port := minPort + rand.IntN(maxPort-minPort)
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("pgcluster: no free port on " + loopback)
}
