package demo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// kind is what a step does.
type kind uint8

const (
	writeProfile kind = iota // change the user's own profile
	readProfile              // read it
	readProduct              // read something that nobody writes
)

// step is one statement of a user.
type step struct {
	at      time.Duration // when it is due, since the beginning of the run
	kind    kind
	product int // for readProduct: 1 to productCount
}

// productCount is the number of rows of the table products.
const productCount = 1000

// stream returns what one user does in a run of that length. The same seed gives
// the same stream, whatever the number of users; a longer run begins as a
// shorter one does.
//
// A user goes from round to round. In each the profile is saved and shown again
// at once, as a web page does; then follow, at their leisure, reads of products
// and one more look at the profile. So some reads come while the write is still
// on its way to the standbys, and some long after it.
func stream(seed uint64, user int, length time.Duration) []step {
	random := rand.New(rand.NewPCG(seed, uint64(user)))
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(random.Int64N(int64(high-low)))
	}
	var steps []step
	begin := between(0, 400*time.Millisecond)
	for begin < length {
		end := begin + between(1200*time.Millisecond, 2400*time.Millisecond)
		steps = append(steps, step{at: begin, kind: writeProfile}, step{at: begin, kind: readProfile})
		rest := []step{{at: between(begin, end), kind: readProfile}}
		for range 8 + random.IntN(8) {
			rest = append(rest, step{at: between(begin, end), kind: readProduct, product: 1 + random.IntN(productCount)})
		}
		slices.SortFunc(rest, func(a, b step) int { return cmp.Compare(a.at, b.at) })
		steps = append(steps, rest...)
		begin = end
	}
	return slices.DeleteFunc(steps, func(s step) bool { return s.at >= length })
}
