package conn

import (
	"strconv"
	"testing"
)

// TestTextsAreRememberedUpToABound adds more texts than are remembered.
func TestTextsAreRememberedUpToABound(t *testing.T) {
	var known texts
	if known.has("SELECT 1") {
		t.Error("an empty set has a text")
	}
	for i := range textsMax {
		known.add(strconv.Itoa(i))
	}
	known.add("0")
	for i := range textsMax {
		if !known.has(strconv.Itoa(i)) {
			t.Fatalf("text %d was forgotten before the bound", i)
		}
	}
	known.add("one more")
	kept := 0
	for i := range textsMax {
		if known.has(strconv.Itoa(i)) {
			kept++
		}
	}
	if kept != textsMax-1 || !known.has("one more") {
		t.Errorf("got %d of %d texts and the new one %t, want that one made room", kept, textsMax, known.has("one more"))
	}
}
