package conn

import (
	"container/list"
	"testing"
)

// TestTheTextUsedLeastLatelyMakesRoom prepares more texts than are kept.
func TestTheTextUsedLeastLatelyMakesRoom(t *testing.T) {
	texts := &prepared{max: 2, at: make(map[string]*list.Element)}
	for _, text := range []string{"a", "b", "a"} {
		texts.use(text)
		if victim, ok := texts.victim(); ok {
			t.Fatalf("%q is to go although there is room", victim)
		}
	}
	texts.use("c")
	if victim, ok := texts.victim(); !ok || victim != "b" {
		t.Errorf("got %q, %t, want b", victim, ok)
	}
	if !texts.has("b") {
		t.Error("b is gone before the server has dropped it")
	}
	texts.forget("b")
	texts.forget("never seen")
	if victim, ok := texts.victim(); ok || texts.has("b") || !texts.has("a") || !texts.has("c") {
		t.Errorf("got %q to go next, b there %t", victim, texts.has("b"))
	}
	texts.forgetAll()
	if _, ok := texts.victim(); ok || texts.has("a") {
		t.Error("something is left")
	}
}
