package wire

// Broken reports whether the connection must be closed.
//
// Cost: none. Concurrency: as Arm.
func (s *Shim) Broken() bool { return s.gate.Load() == gateDead }

// Draining reports whether the answers of a rejected read are still being read;
// see Drain.
//
// Cost: none. Concurrency: as Arm.
func (s *Shim) Draining() bool { return s.gate.Load() == gateDraining }
