// Package concurrency does two things at once.
package concurrency

type queue struct {
	c chan int // want: channel
}

// F starts and waits.
func F(q queue) int {
	go F(q)  // want: goroutine
	q.c <- 1 // want: channel
	select { // want: select
	default:
	}
	for v := range q.c { // want: channel
		return v
	}
	return <-q.c // want: channel
}
