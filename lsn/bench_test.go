package lsn_test

import (
	"testing"

	"github.com/pgryw/pgryw/lsn"
)

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := lsn.Parse("16/B374D848"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFenceRaiseAndLoad is the work of a write and the reads that follow
// it, on a fence that all processors share.
func BenchmarkFenceRaiseAndLoad(b *testing.B) {
	var f lsn.Fence
	b.RunParallel(func(pb *testing.PB) {
		p := at(1, 1, 0)
		for pb.Next() {
			p.LSN++
			f.Raise(p, lsn.LastNumber())
			for range 4 {
				if f.Load().Uncertain() {
					b.Error("uncertain without a doubt")
				}
			}
		}
	})
}
