// Package cores spreads work over the machine's cores without affecting its results: the work is cut into
// independent parts, and it does not matter which core computes which part.
//
// Floor 2, learning: floors 2 to 6 import it.
package cores

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f once for each part 0 .. parts-1 and returns when all calls have returned. It uses one
// goroutine per core, the caller's included. The parts must not write to the same memory.
func Each(parts int, f func(part int)) {
	workers := min(runtime.GOMAXPROCS(0), parts)
	if workers <= 1 {
		inOrder(parts, f)
		return
	}
	var next atomic.Int64
	work := func() {
		for {
			part := int(next.Add(1)) - 1
			if part >= parts {
				return
			}
			f(part)
		}
	}
	var done sync.WaitGroup
	for range workers - 1 {
		done.Add(1)
		go func() {
			defer done.Done()
			work()
		}()
	}
	work()
	done.Wait()
}

// worthSharing is the work [products] below which one core is done before another has started.
const worthSharing = 1 << 18

// EachIfLarge is Each if the parts, which take about work products each, are worth sharing. Otherwise it calls f in the
// caller's goroutine.
func EachIfLarge(parts, work int, f func(part int)) {
	if parts*work < worthSharing {
		inOrder(parts, f)
		return
	}
	Each(parts, f)
}

func inOrder(parts int, f func(part int)) {
	for part := range parts {
		f(part)
	}
}
