package wire

// report adds to the outcome what the trip has learnt.
func (s *Shim) report() {
	t, o, f := &s.trip, &s.outcome, &s.flight
	if t.phase == phaseNone {
		return
	}
	o.Guard = t.verdict
	o.GuardRow, o.GuardErr = nil, nil
	if t.cargo.guard {
		o.GuardRow, o.GuardErr = t.guard.result()
	}
	o.XID = max(o.XID, t.xid)
	if t.cargo.ahead {
		_, o.XIDErr = t.question.result()
	}
	o.CaptureRow, o.CaptureErr = nil, nil
	switch {
	case f.Capture == nil:
	case !t.cargo.capture:
		o.CaptureErr = ErrNotCarried
	case o.Ended && o.Status != 'I':
		o.CaptureErr = ErrInTransaction
	default:
		o.CaptureRow, o.CaptureErr = t.capture.result()
	}
}
