//go:build !linux

package main

import "time"

// processorClock returns a clock, in nanoseconds, of the time that passes: where the system has no clock of a thread,
// what other programs take counts too.
func processorClock() func() int64 {
	begun := time.Now()
	return func() int64 { return time.Since(begun).Nanoseconds() }
}
