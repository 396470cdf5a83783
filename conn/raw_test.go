package conn

import (
	"testing"

	"github.com/pgryw/pgryw/router"
)

// TestARawCommandIsAWriteUnlessItsTagSaysOtherwise goes through command tags.
func TestARawCommandIsAWriteUnlessItsTagSaysOtherwise(t *testing.T) {
	for tag, wrote := range map[string]bool{
		"INSERT 0 1": true, "SELECT 1": true, "COPY 3": true, "CREATE TABLE": true, "COMMIT": true, "ROLLBACK": true,
		"DO": true, "CALL": true, "START TRANSACTION": true, "SETTING": true, "": true, "set": true,
		"FETCH 2": false, "SHOW": false, "LISTEN": false, "UNLISTEN": false, "BEGIN": false, "SET": false,
	} {
		h := newHandle(t, router.Policy{}, "a", "b")
		w := &rawWatch{h: h}
		w.Tag([]byte(tag))
		if h.all.Load().Uncertain() {
			t.Errorf("%q: in doubt before it is committed", tag)
		}
		w.Ready('I')
		if h.all.Load().Uncertain() != wrote || h.unattributed.Load().Uncertain() != wrote || (w.number.Load() != 0) != wrote {
			t.Errorf("%q: got in doubt %t, want %t", tag, h.all.Load().Uncertain(), wrote)
		}
		w.Ready('I')
		if n := h.Stats().UncertainCount; n > 1 {
			t.Errorf("%q: doubted %d times", tag, n)
		}
		w.Lost(nil)
		if !h.all.Load().Uncertain() {
			t.Errorf("%q: not in doubt once the connection is lost", tag)
		}
	}
}
