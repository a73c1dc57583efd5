package cores_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/evoswarm/evoswarm/internal/cores"
)

func TestAheadKeepsOrderAndError(t *testing.T) {
	for _, procs := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		n := 0
		take, stop := cores.Ahead(3, func() (int, error) {
			if n == 100 {
				return 0, io.EOF
			}
			n++
			return n, nil
		})
		for want := 1; want <= 100; want++ {
			if got, err := take(); got != want || err != nil {
				t.Fatalf("%d cores: got %d, %v, want %d", procs, got, err, want)
			}
		}
		for range 2 {
			if _, err := take(); !errors.Is(err, io.EOF) {
				t.Errorf("%d cores: got %v after the end, want EOF", procs, err)
			}
		}
		stop()
	}
}

// TestAheadStops: after stop nothing is called any more, and no more than depth results and two were made.
func TestAheadStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	n := 0
	take, stop := cores.Ahead(3, func() (int, error) { n++; return n, nil })
	if _, err := take(); err != nil {
		t.Fatal(err)
	}
	stop()
	if n > 6 {
		t.Errorf("%d results were made, want at most 6", n)
	}
}
