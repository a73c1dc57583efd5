package cores_test

import (
	"runtime"
	"testing"

	"github.com/evoswarm/evoswarm/internal/cores"
)

func TestEachCallsEveryPartOnce(t *testing.T) {
	for _, procs := range []int{1, 2, 7} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for _, parts := range []int{0, 1, 2, 100} {
			calls := make([]int, parts)
			cores.Each(parts, func(part int) { calls[part]++ })
			for part, n := range calls {
				if n != 1 {
					t.Errorf("%d of %d parts on %d cores: part %d was called %d times", part, parts, procs, part, n)
				}
			}
		}
	}
}
