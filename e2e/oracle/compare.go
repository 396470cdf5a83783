package oracle

import (
	"fmt"
	"slices"

	"github.com/pgryw/pgryw/router"
)

// Unsafe returns what would go wrong if the router believed got of a statement
// that is want, or "" if nothing would.
func Unsafe(got router.Statement, want Verdict) string {
	switch {
	case !allowed(got.Class, want):
		return fmt.Sprintf("taken for %v, is %v", got.Class, want.Class)
	case got.Class == router.ClassControl && (got.Control != want.Control || got.Chain != want.Chain):
		return fmt.Sprintf("taken for control %d, chain %t, is %d, %t", got.Control, got.Chain, want.Control, want.Chain)
	case got.Single && want.Count != 1:
		return fmt.Sprintf("taken for one statement, is %d", want.Count)
	case missing(got.Starts, want.Starts) != 0:
		return fmt.Sprintf("starts %v, taken for %v", want.Starts, got.Starts)
	case got.Ends&^want.Ends != 0:
		return fmt.Sprintf("ends %v, taken for %v", want.Ends, got.Ends)
	}
	return ""
}

// allowed reports whether a statement of class want may be taken for one of
// class got. Write and unknown are always safe: the primary, with a capture. SET
// TRANSACTION and SET CONSTRAINTS may pass for session statements, which are as
// little captured.
func allowed(got router.Class, want Verdict) bool {
	switch got {
	case router.ClassWrite, router.ClassUnknown:
		return true
	case router.ClassVolatile, router.ClassLocal:
		return want.Class == got || want.Class == router.ClassRead
	case router.ClassSession:
		return want.Class == got || want.Control == router.ControlSet
	}
	return want.Class == got
}

// missing returns the pins that are not covered. PinUnknown stands for all but
// that of a transaction: only DISCARD ALL ends it.
func missing(got, want router.Pin) router.Pin {
	want &^= got
	if got&router.PinUnknown != 0 {
		want &= router.PinTx
	}
	return want
}

// Wasteful reports whether the router keeps a read from the replicas.
func Wasteful(got router.Statement, want Verdict) bool {
	return want.Class == router.ClassRead && got.Class != router.ClassRead
}

// Tally counts what the comparison of many texts has found.
type Tally struct {
	Parsed, Rejected int // by PostgreSQL's parser
	Reads            int // as the tree has it
	// Waste counts the reads kept from the replicas, by the router's reason, and
	// has some of their texts.
	Waste map[router.Cause]*Waste
}

// Waste are the reads that were kept from the replicas for one reason.
type Waste struct {
	Count    int
	Examples []string
}

// Compare judges a text both ways and takes in the result. It returns what is
// unsafe, or "". What the router makes of a text without knowing how the server
// reads backslashes must be as safe.
func (t *Tally) Compare(o *Oracle, sql string) string {
	want, err := o.Judge(sql)
	if err != nil {
		t.Rejected++
		return ""
	}
	t.Parsed++
	got := router.Classify(sql, o.effects.env)
	if why := Unsafe(router.Classify(sql, o.blind), want); why != "" {
		return why
	}
	if want.Class == router.ClassRead {
		t.Reads++
	}
	if Wasteful(got, want) {
		t.waste(got.Why, sql)
	}
	return Unsafe(got, want)
}

func (t *Tally) waste(why router.Cause, sql string) {
	if t.Waste == nil {
		t.Waste = make(map[router.Cause]*Waste)
	}
	w := t.Waste[why]
	if w == nil {
		w = new(Waste)
		t.Waste[why] = w
	}
	w.Count++
	if len(w.Examples) < 5 {
		w.Examples = append(w.Examples, sql)
	}
}

// Wasted returns how many reads were kept from the replicas.
func (t *Tally) Wasted() int {
	n := 0
	for _, w := range t.Waste {
		n += w.Count
	}
	return n
}

// Reasons returns the reasons of the waste in their order.
func (t *Tally) Reasons() []router.Cause {
	var reasons []router.Cause
	for why := range t.Waste {
		reasons = append(reasons, why)
	}
	slices.Sort(reasons)
	return reasons
}
