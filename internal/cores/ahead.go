package cores

import "runtime"

// Ahead calls next in a goroutine of its own, up to depth results ahead of take, so that producing and
// consuming overlap. take returns the results in order; the first error ends the sequence, and take returns
// it from then on. stop ends the calls and waits for the running one; call it exactly once, and do not call
// take after it. On a single core take calls next itself.
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
