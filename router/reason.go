package router

// Reason is the machine-readable why of a routing decision, a pin or a
// fallback. The same words reach statistics, hooks, logs and tests.
type Reason uint8

// The reasons. Those of the first group send a statement to a replica, those
// of the second to the primary; those of the third say why a node is not used.
const (
	ReasonNone Reason = iota

	ReasonUnfenced // the read has nothing to wait for
	ReasonFresh    // the replica is known to have replayed past the fence
	ReasonExpected // by its usual lag the replica should have; its guard decides
	ReasonWaited   // the read waited until the replica had

	ReasonSingleNode   // there is one server only
	ReasonWrite        // not known to be a read
	ReasonVolatile     // calls a function not known to be stable
	ReasonLocal        // answers for the server that it runs on
	ReasonSession      // changes session state
	ReasonControl      // begins, ends or divides a transaction
	ReasonTransaction  // inside a transaction
	ReasonPinned       // the checkout has session state on its primary connection
	ReasonRouteOff     // pgryw.route=off
	ReasonNotHinted    // pgryw.route=hinted and no hint
	ReasonHint         // the caller asked for the primary
	ReasonNoReplica    // no replica may be used
	ReasonNoPrimary    // no primary is known, so no replica can be compared with it
	ReasonUncertain    // the fence has no known position
	ReasonTimeline     // the fence is of another timeline than the primary's
	ReasonSystem       // the fence is of another cluster
	ReasonBehind       // no replica has replayed past the fence
	ReasonGuardFailed  // the replica chosen had not replayed past the fence
	ReasonReplicaError // the replica failed before it delivered a row
	ReasonReplicaBusy  // no connection to the replica was free
	ReasonIndirect     // a pooler stands before the replica: guard and read may reach two servers
	ReasonRefused      // the replica refused the statement, as a standby must
	ReasonSchema       // the replica's schema or rights may be behind
	ReasonRemembered   // a statement of the same text has turned out to write
	ReasonReadWriteTx  // a transaction that may write
	ReasonSerializable // a serializable transaction
	ReasonReadOnlyTx   // pgryw.readonly_tx=primary

	ReasonUnreachable  // cannot be connected to, or does not answer
	ReasonForeign      // is of another cluster
	ReasonAlias        // is another address of a node already in use
	ReasonSplit        // two nodes claim to be primary on one timeline
	ReasonDeposed      // can be written to, but another node is the primary
	ReasonUndiscovered // has not been asked yet

	reasonCount
)

var reasonNames = [reasonCount]string{
	ReasonNone:         "none",
	ReasonUnfenced:     "unfenced",
	ReasonFresh:        "fresh",
	ReasonExpected:     "expected",
	ReasonWaited:       "waited",
	ReasonSingleNode:   "single_node",
	ReasonWrite:        "write",
	ReasonVolatile:     "volatile",
	ReasonLocal:        "local",
	ReasonSession:      "session",
	ReasonControl:      "control",
	ReasonTransaction:  "transaction",
	ReasonPinned:       "pinned",
	ReasonRouteOff:     "route_off",
	ReasonNotHinted:    "not_hinted",
	ReasonHint:         "hint",
	ReasonNoReplica:    "no_replica",
	ReasonNoPrimary:    "no_primary",
	ReasonUncertain:    "uncertain",
	ReasonTimeline:     "timeline",
	ReasonSystem:       "system",
	ReasonBehind:       "behind",
	ReasonGuardFailed:  "guard_failed",
	ReasonReplicaError: "replica_error",
	ReasonReplicaBusy:  "replica_busy",
	ReasonIndirect:     "indirect",
	ReasonRefused:      "refused",
	ReasonSchema:       "schema",
	ReasonRemembered:   "remembered",
	ReasonReadWriteTx:  "read_write_tx",
	ReasonSerializable: "serializable",
	ReasonReadOnlyTx:   "readonly_tx",
	ReasonUnreachable:  "unreachable",
	ReasonForeign:      "foreign",
	ReasonAlias:        "alias",
	ReasonSplit:        "split",
	ReasonDeposed:      "deposed",
	ReasonUndiscovered: "undiscovered",
}

// String returns the reason as one lower-case word, the form that statistics
// and logs use.
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return "invalid"
}

// MarshalText implements encoding.TextMarshaler, so that a Reason may be a key
// of a JSON object.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Mends reports whether a read that was sent to the primary for this reason
// carries a capture, which gives the fence that sent it there a position that
// replicas can be compared with.
func (r Reason) Mends() bool { return r == ReasonUncertain || r == ReasonTimeline }

// FallsBack reports whether a read that was sent to the primary for this reason
// would have run on a replica if one had been fit: what pgryw.max_fallback
// counts.
func (r Reason) FallsBack() bool {
	switch r {
	case ReasonNoReplica, ReasonUncertain, ReasonTimeline, ReasonBehind, ReasonGuardFailed,
		ReasonReplicaError, ReasonReplicaBusy, ReasonIndirect:
		return true
	}
	return false
}

// Reasons is how many reasons there are: the length of an array indexed by
// Reason.
const Reasons = int(reasonCount)
