package cores

import "runtime"

// Ahead calls next on a goroutine of its own, up to depth results ahead of the caller, so that
// producing and using them overlap. take returns the results in their order; after the first error, which is the last
// result, it returns that error forever. stop ends the calls and waits for the one that runs; it must be
// called once, and nothing may be taken after it. With a single core next is called by take.
func Ahead[T any](depth int, next func() (T, error)) (take func() (T, error), stop func()) {
	if runtime.GOMAXPROCS(0) == 1 {
		return next, func() {}
	}
	type result struct {
		value T
		err   error
	}
	results, quit, ended := make(chan result, depth), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var r result
			r.value, r.err = next()
			select {
			case results <- r:
			case <-quit:
				return
			}
			if r.err != nil {
				return
			}
		}
	}()
	var last error
	take = func() (T, error) {
		if last != nil {
			var none T
			return none, last
		}
		r := <-results
		last = r.err
		return r.value, r.err
	}
	return take, func() {
		close(quit)
		<-ended
	}
}
