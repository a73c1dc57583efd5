// Package cores spreads work over the machine's cores without changing a bit: the work is cut into parts that
// share nothing, so it does not matter which core computes which part.
package cores

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f once for each part 0 .. parts-1, on as many goroutines as there are cores, this one included,
// and returns when all have returned. The parts must not touch the same memory.
func Each(parts int, f func(part int)) {
	workers := min(runtime.GOMAXPROCS(0), parts)
	if workers <= 1 {
		for part := range parts {
			f(part)
		}
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
