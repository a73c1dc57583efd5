//go:build !(js && wasm) || purego

package worlds

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/episode"
)

func connect(int) error { return fmt.Errorf("%w: they are for browsers", ErrAbsent) }

func play(*World, *episode.Setup, []float64, []uint64, []float32, []float32, []float64, []float64, []uint64) (int64, bool) {
	return 0, false
}
