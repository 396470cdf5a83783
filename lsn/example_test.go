package lsn_test

import (
	"context"
	"fmt"

	"github.com/pgryw/pgryw/lsn"
)

func ExampleParse() {
	l, err := lsn.Parse("16/b374d848")
	fmt.Println(l, uint64(l), err)

	_, err = lsn.Parse("100000000/0")
	fmt.Println(err)
	// Output:
	// 16/B374D848 97500059720 <nil>
	// pgryw: invalid LSN "100000000/0": want a slash after the first number
}

func ExamplePosition_Reaches() {
	fence := lsn.Position{System: 7301, Timeline: 1, LSN: 0x3000060}
	replica := lsn.Position{System: 7301, Timeline: 1, LSN: 0x3000100}
	fmt.Println(replica.Reaches(fence))

	replica.Timeline = 2 // it follows a new primary, where the write may be missing
	fmt.Println(replica.Reaches(fence))
	// Output:
	// true
	// false
}

func ExampleNewSession() {
	ctx := lsn.NewSession(context.Background())
	// db.ExecContext(ctx, ...) and db.QueryContext(ctx, ...) now belong together.
	fmt.Println(lsn.SessionFrom(ctx) != nil)
	// Output: true
}
