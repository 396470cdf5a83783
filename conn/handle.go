package conn

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pgryw/pgryw/internal/topology"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

// Config is what a Handle is made of. No field is optional but OnRoute.
type Config struct {
	Cluster *topology.Cluster
	Policy  router.Policy
	// CaptureTimeout is how long a finished write may be held for its capture.
	CaptureTimeout time.Duration
	Logger         *slog.Logger
	// OnRoute is told of every decision, on the goroutine of the statement.
	OnRoute func(context.Context, router.Decision)
	// MaxFallback is how many reads at once may fall back to the primary; zero is
	// any number.
	MaxFallback int
	// Owner is kept alive for as long as any of the handle's connections.
	Owner any
}

// Handle is what the logical connections of one *sql.DB share: its servers, its
// policy and its two fences.
//
// Concurrency: safe for use by any number of goroutines.
type Handle struct {
	cluster        *topology.Cluster
	policy         router.Policy
	captureTimeout time.Duration
	logger         *slog.Logger
	onRoute        func(context.Context, router.Decision)
	owner          any
	maxFallback    int64

	all          lsn.Fence // every write of the handle
	unattributed lsn.Fence // the writes made without a session

	brackets brackets // of the connections made by Connect
	turn     atomic.Uint64
	waiting  atomic.Int64 // reads that wait for a replica
	fallback atomic.Int64 // reads that have fallen back to the primary
	guesses  [guessNodes]atomic.Int32
	writers  texts // texts of reads that turned out to write
	counters counters
}

// NewHandle returns a Handle without connections.
func NewHandle(cfg Config) *Handle {
	return &Handle{
		cluster:        cfg.Cluster,
		policy:         cfg.Policy,
		captureTimeout: cfg.CaptureTimeout,
		logger:         cfg.Logger,
		onRoute:        cfg.OnRoute,
		owner:          cfg.Owner,
		maxFallback:    int64(cfg.MaxFallback),
	}
}

// Connect returns a logical connection made by a driver.Connector: whether its
// user's wrappers pass the checkout's brackets on is learnt for all of them
// together.
//
// Cost: none; a server connection is borrowed when a statement needs it.
func (h *Handle) Connect() *Conn {
	return newConn(h, &h.brackets)
}

// Open returns a logical connection made by Driver.Open, of which nothing is
// known but what is seen on it.
//
// Cost: none.
func (h *Handle) Open() *Conn {
	return newConn(h, new(brackets))
}

// Doubt makes the handle's fences uncertain: something may have been written
// that it does not know of.
func (h *Handle) Doubt() {
	n := lsn.NextNumber()
	h.all.Doubt(n)
	h.unattributed.Doubt(n)
}

func newConn(h *Handle, b *brackets) *Conn {
	h.counters.conns.Add(1)
	return &Conn{h: h, brackets: b}
}

// brackets records which ends of a checkout database/sql has been seen to
// report. A wrapper that does not implement driver.SessionResetter or
// driver.Validator hides them.
type brackets struct {
	reset atomic.Bool // ResetSession was called
	valid atomic.Bool // IsValid was called
}

// seen reports whether a checkout's begin or end has ever been reported, so
// that a connection that says nothing is known to be in one checkout still.
func (b *brackets) seen() bool { return b.reset.Load() || b.valid.Load() }
