package servers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// addr returns host:port of a server.
func addr(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// checkPorts reports whether count ports from first on are free now.
//
// Errors: ErrPortTaken with the number of the first that is not.
func checkPorts(ctx context.Context, first, count int) error {
	for port := first; port < first+count; port++ {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr(port))
		if err != nil {
			return fmt.Errorf("port %d %w", port, ErrPortTaken)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// freePorts returns the first of count ports in a row that are free now, from
// below the ranges that systems take ports of outgoing connections from.
func freePorts(ctx context.Context, count int) (first int, err error) {
	for range 100 {
		first = 15000 + rand.IntN(15000)
		if err = checkPorts(ctx, first, count); err == nil {
			return first, nil
		}
	}
	return 0, errors.New("no free ports on " + loopback)
}
