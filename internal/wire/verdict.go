package wire

// Verdict returns what has become of the guard by now. Once pgx's call has
// returned, with rows or without, the guard has been decided; Finish reports the
// same.
//
// Cost: none. Concurrency: as Arm.
func (s *Shim) Verdict() Verdict { return s.trip.verdict }

// Broken reports whether the connection must be closed.
//
// Cost: none.
func (s *Shim) Broken() bool { return s.gate.Load() == gateDead }

// Draining reports whether the answers of a rejected read are still being read;
// see Drain.
//
// Cost: none.
func (s *Shim) Draining() bool { return s.gate.Load() == gateDraining }
