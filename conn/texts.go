package conn

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// textsMax is how many texts are remembered.
const textsMax = 4096

// texts is a bounded set of statement texts, kept as hashes: two texts of one
// hash are both taken for members, which errs towards the primary.
//
// Concurrency: safe for use by any number of goroutines; has costs one atomic
// read while the set is empty.
type texts struct {
	size atomic.Int32

	mu     sync.RWMutex
	hashes map[uint64]struct{} // guarded by mu
}

var textSeed = maphash.MakeSeed()

// add remembers text. When the set is full another text is forgotten: it will
// be found out again.
func (t *texts) add(text string) {
	hash := maphash.String(textSeed, text)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hashes == nil {
		t.hashes = make(map[uint64]struct{})
	}
	if _, known := t.hashes[hash]; !known && len(t.hashes) >= textsMax {
		for victim := range t.hashes {
			delete(t.hashes, victim)
			break
		}
	}
	t.hashes[hash] = struct{}{}
	t.size.Store(int32(len(t.hashes)))
}

// has reports whether text is remembered.
func (t *texts) has(text string) bool {
	if t.size.Load() == 0 {
		return false
	}
	hash := maphash.String(textSeed, text)
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, known := t.hashes[hash]
	return known
}
