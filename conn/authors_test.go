package conn

import (
	"slices"
	"testing"

	"github.com/pgryw/pgryw/internal/wire"
	"github.com/pgryw/pgryw/lsn"
	"github.com/pgryw/pgryw/router"
)

func sessionsOf(a *authors) (all []*lsn.Session) {
	a.each(func(s *lsn.Session) { all = append(all, s) })
	return all
}

// TestAuthorsAreEachSessionOnce signs for several sessions, some of them twice.
func TestAuthorsAreEachSessionOnce(t *testing.T) {
	a, b, c := newSession(t), newSession(t), newSession(t)
	var who authors
	if who.signed() || sessionsOf(&who) != nil {
		t.Error("nobody has signed")
	}
	for _, s := range []*lsn.Session{nil, a, b, a, nil, c, b, c} {
		who.sign(s)
	}
	if got, want := sessionsOf(&who), []*lsn.Session{a, b, c}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if who.unsigned {
		t.Error("nobody has written without a session")
	}
	if one := authorOf(nil); !one.unsigned || one.signed() {
		t.Errorf("a statement without a session: got %+v", one)
	}
	if one := authorOf(a); one.unsigned || !slices.Equal(sessionsOf(&one), []*lsn.Session{a}) {
		t.Errorf("a statement with one: got %+v", one)
	}
}

var (
	aRead    = router.Classify(`SELECT 1`)
	aWrite   = router.Classify(`UPDATE t SET n = 1`)
	aSetting = router.Classify(`SET LOCAL a.b = 'c'`)
	aBegin   = router.Classify(`BEGIN`)
	several  = router.Classify(`SELECT 1; SELECT 2`)
)

// TestATransactionIsItsWriters notes statements with and without a session, and
// says whose the transaction is when it is known whether it wrote.
func TestATransactionIsItsWriters(t *testing.T) {
	session := newSession(t)
	signed := func(s router.Statement) *call { return &call{stmt: s, session: session} }
	unsigned := func(s router.Statement) *call { return &call{stmt: s} }
	for _, tt := range []struct {
		name            string
		readOnly        bool
		calls           []*call
		hidden          bool // the server says that it wrote
		wrote, unsigned bool
	}{
		{name: "reads", calls: []*call{signed(aRead), unsigned(aRead)}},
		{name: "a signed write", calls: []*call{signed(aWrite)}, wrote: true},
		{name: "a signed write in an unsigned frame", calls: []*call{unsigned(aBegin), signed(aWrite)}, wrote: true},
		{name: "an unsigned write", calls: []*call{signed(aWrite), unsigned(aWrite)}, wrote: true, unsigned: true},
		{name: "an unsigned read beside a signed write", calls: []*call{unsigned(aRead), signed(aWrite)}, wrote: true, unsigned: true},
		{name: "a signed read that wrote", calls: []*call{unsigned(aBegin), signed(aRead)}, hidden: true, wrote: true},
		{name: "an unsigned read that wrote", calls: []*call{signed(aRead), unsigned(aRead)}, hidden: true, wrote: true, unsigned: true},
		{name: "an unsigned setting", calls: []*call{unsigned(aSetting)}},
		{name: "several statements", calls: []*call{unsigned(several)}, wrote: true, unsigned: true},
		{name: "a read-only one is BeginTx's", readOnly: true, calls: []*call{unsigned(aRead), signed(aRead)}},
	} {
		tr := &transaction{authors: authors{first: session}, readOnly: tt.readOnly}
		for _, c := range tt.calls {
			tr.note(c)
		}
		if tt.hidden {
			tr.learn(wire.XIDAssigned)
		} else {
			tr.learn(wire.XIDNone)
		}
		if tr.wrote != tt.wrote || tr.unsigned != tt.unsigned {
			t.Errorf("%s: got wrote %t, unsigned %t, want %t, %t", tt.name, tr.wrote, tr.unsigned, tt.wrote, tt.unsigned)
		}
	}
	other := newSession(t)
	tr := &transaction{authors: authors{first: session}, readOnly: true}
	tr.note(&call{stmt: aRead, session: other})
	if got := sessionsOf(&tr.authors); !slices.Equal(got, []*lsn.Session{session}) {
		t.Errorf("a read-only transaction is of %v too", got[1:])
	}
}
