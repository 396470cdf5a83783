package demo

import "time"

// Progress is the state of a run.
type Progress struct {
	Way                             string
	Elapsed, Length                 time.Duration
	Reads, StaleReads, StandbyReads int64
}

// report calls o.Progress ten times a second until the function that it returns
// is called, and not after that.
func (w *way) report(begin time.Time, c *counters, o Options) (stop func()) {
	if o.Progress == nil {
		return func() {}
	}
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			o.Progress(Progress{
				Way: w.name, Elapsed: min(time.Since(begin), o.Length), Length: o.Length,
				Reads: c.reads.Load(), StaleReads: c.staleReads.Load(), StandbyReads: c.standbyReads.Load(),
			})
			select {
			case <-ticker.C:
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		close(stopped)
		<-done
	}
}
