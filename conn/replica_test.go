package conn

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgryw/pgryw/router"
)

// TestAReadThatFailsOnAReplicaRunsOnThePrimaryIfThatMayHelp goes through the
// errors of a server, and those that are not one's.
func TestAReadThatFailsOnAReplicaRunsOnThePrimaryIfThatMayHelp(t *testing.T) {
	state := func(code string) error { return &pgconn.PgError{Code: code} }
	changed := &pgconn.PgError{Code: "0A000", Message: "der Plan", Routine: "RevalidateCachedQuery"}
	for _, tt := range []struct {
		err  error
		lost bool
		want router.Reason
	}{
		{state("25006"), false, router.ReasonRefused},
		{state("55000"), false, router.ReasonRefused},
		{state("0A000"), false, router.ReasonRefused},
		{changed, false, router.ReasonNone},
		{state("42P01"), false, router.ReasonSchema},
		{state("42501"), false, router.ReasonSchema},
		{state("22P02"), false, router.ReasonSchema},
		{state("40001"), false, router.ReasonReplicaError},
		{state("57P01"), true, router.ReasonReplicaError},
		{state("53300"), false, router.ReasonReplicaError},
		{state("08006"), false, router.ReasonReplicaError},
		{fmt.Errorf("wrapped: %w", state("08P01")), false, router.ReasonReplicaError},
		{state("57014"), false, router.ReasonNone},
		{state("22012"), true, router.ReasonNone},
		{state("0"), false, router.ReasonNone},
		{errors.New("cannot encode"), false, router.ReasonNone},
		{errors.New("connection reset"), true, router.ReasonReplicaError},
	} {
		if got := insteadOfReplica(tt.err, tt.lost); got != tt.want {
			t.Errorf("%v, lost %t: got %v, want %v", tt.err, tt.lost, got, tt.want)
		}
	}
}

// TestATransactionOnAReplicaRefusesWhatIsForThePrimary goes through statements
// that a standby would carry out, for itself.
func TestATransactionOnAReplicaRefusesWhatIsForThePrimary(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1":            false,
		"SET LOCAL a.b = 'c'": false,
		"SAVEPOINT s":         false,
		"ROLLBACK TO s":       false,
		"BEGIN":               false,
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED": false,
		"SELECT pg_advisory_xact_lock(1)":                true,
		"SELECT pg_try_advisory_lock(1)":                 true,
		"SELECT pg_terminate_backend(1)":                 true,
		"COMMIT":                                         true,
		"END":                                            true,
		"ABORT":                                          true,
		"ROLLBACK AND CHAIN":                             true,
		"PREPARE TRANSACTION 'x'":                        true,
	} {
		if got := wrongOnReplica(router.Classify(text)); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
