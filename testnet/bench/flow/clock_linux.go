package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// processorClock returns a clock, in nanoseconds, of the processor time that this goroutine takes from now on: other
// programs, and the garbage collector's threads, take none of it.
func processorClock() func() int64 {
	runtime.LockOSThread()
	return func() int64 {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // never fails
		return t.Nano()
	}
}
