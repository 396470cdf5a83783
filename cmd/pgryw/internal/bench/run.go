package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver to compare with

	"github.com/pgryw/pgryw/driver"
	"github.com/pgryw/pgryw/internal/pgcluster"
	"github.com/pgryw/pgryw/router"
)

// Options say what to measure.
type Options struct {
	// RoundTrip is how long one takes through the proxy.
	RoundTrip time.Duration
	// Rounds is how often each call is measured, each way.
	Rounds int
	// Progress is told how far the run is. Nil is no call.
	Progress func(done, total int)
}

// Result is what one case has cost.
type Result struct {
	Case string
	// Median is of one call, for each way; zero if the case has no such way.
	Plain, ByHand, Pgryw time.Duration
	// Trips are round trips of one call on average, the probes' left out.
	PlainTrips, ByHandTrips, PgrywTrips float64
	// Guarded is the share of pgryw's calls that carried a guard.
	Guarded float64
}

// lab is one set of servers, proxies and handles.
type lab struct {
	handles
	cluster *pgcluster.Cluster
	proxies []*proxy
	guarded atomic.Int64
}

// Run measures every case, on a primary and a standby that it starts itself.
// The ways take turns call by call, so that what else the machine does falls on
// all of them.
//
// Errors: pgcluster.ErrNoBinaries, and those of the servers.
func Run(ctx context.Context, o Options) (_ []Result, err error) {
	l, err := newLab(ctx, o.RoundTrip)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var results []Result
	all := cases()
	for i, c := range all {
		r, err := l.measure(ctx, c, o.Rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, r)
		if o.Progress != nil {
			o.Progress(i+1, len(all))
		}
	}
	return results, nil
}

func newLab(ctx context.Context, roundTrip time.Duration) (_ *lab, err error) {
	c, err := pgcluster.Start(ctx, pgcluster.Options{
		Standbys: 1, Setup: setup, Settings: map[string]string{"log_statement": "none"},
	})
	if err != nil {
		return nil, err
	}
	l := &lab{cluster: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if err := c.CatchUp(ctx); err != nil {
		return nil, err
	}
	for _, n := range c.Nodes() {
		p, err := newProxy(ctx, n.Addr(), roundTrip)
		if err != nil {
			return nil, err
		}
		l.proxies = append(l.proxies, p)
	}
	if l.primary, err = sql.Open("pgx", dsn(l.proxies[0])); err != nil {
		return nil, err
	}
	if l.standby, err = sql.Open("pgx", dsn(l.proxies[1])); err != nil {
		return nil, err
	}
	return l, l.openPgryw(ctx)
}

func dsn(proxies ...*proxy) string {
	text := "postgres://" + pgcluster.Superuser + "@"
	for i, p := range proxies {
		if i > 0 {
			text += ","
		}
		text += p.addr()
	}
	return text + "/postgres?sslmode=disable"
}

func (l *lab) openPgryw(ctx context.Context) error {
	cfg, err := driver.ParseDSN(dsn(l.proxies...))
	if err != nil {
		return err
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.OnRoute = func(_ context.Context, d router.Decision) {
		if d.Reason == router.ReasonExpected {
			l.guarded.Add(1)
		}
	}
	connector, err := driver.NewConnector(*cfg)
	if err != nil {
		return err
	}
	l.pgryw = sql.OpenDB(connector)
	return l.pgryw.PingContext(ctx)
}

func (l *lab) close() error {
	var errs []error
	for _, db := range []*sql.DB{l.primary, l.standby, l.pgryw} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	for _, p := range l.proxies {
		p.close()
	}
	return errors.Join(append(errs, l.cluster.Close())...)
}

func (l *lab) trips() int64 {
	var total int64
	for _, p := range l.proxies {
		total += p.trips.Load()
	}
	return total
}

// warmUp is how many calls are not counted: they make connections and prepare
// statements.
const warmUp = 5

func (l *lab) measure(ctx context.Context, c testCase, rounds int) (Result, error) {
	var took [ways][]time.Duration
	var trips [ways][]int64
	for round := range warmUp + rounds {
		if round == warmUp {
			l.guarded.Store(0)
		}
		for w, run := range c.run {
			if run == nil {
				continue
			}
			if c.before != nil {
				if err := c.before(ctx, l); err != nil {
					return Result{}, err
				}
			}
			before, start := l.trips(), time.Now()
			if err := run(ctx, l); err != nil {
				return Result{}, err
			}
			if round >= warmUp {
				took[w] = append(took[w], time.Since(start))
				trips[w] = append(trips[w], l.trips()-before)
			}
		}
	}
	return Result{
		Case:  c.name,
		Plain: median(took[plain]), ByHand: median(took[byHand]), Pgryw: median(took[pgryw]),
		PlainTrips: float64(median(trips[plain])), ByHandTrips: float64(median(trips[byHand])), PgrywTrips: float64(median(trips[pgryw])),
		Guarded: float64(l.guarded.Load()) / float64(rounds),
	}, nil
}

// median returns the middle of the values, or zero of none. The probes share
// the proxies now and then; the median leaves them out.
func median[T ~int64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
