//go:build !purego

package worlds

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// The addresses of first values. A conversion to them needs no branch: see internal/kernel.
type (
	firstFloat  = *[0]float32
	firstReal   = *[0]float64
	firstWord   = *[0]uint64
	firstNumber = *[0]int64
)

// The functions of border.mjs. The host of this program provides them as its imports "evoworlds", with those of
// [Modules] that it brings. wasmConnect returns one of the states below, and wasmPlay the number of env-steps, or -1
// without memory, -2 when the program failed. They check nothing.

//go:wasmimport evoworlds connect
//go:noescape
func wasmConnect(module int32, build uint64, table firstFloat, values int32) int32

//go:wasmimport evoworlds play
//go:noescape
func wasmPlay(module, world, variant int32, numbers firstNumber, reals firstReal, seeds firstWord, seedsLen int32, bounds firstReal, boundsLen int32, params firstReal, paramsLen int32, returns firstReal, sums firstWord, sumsLen int32, theta firstFloat, thetaLen int32, norm firstFloat, normLen int32) float64

// What wasmConnect returns.
const (
	connected int32 = iota
	notProvided
	noVectors
	damaged
	otherBuild
	noMemory
)

// connect makes a module ready to play.
func connect(module int) error {
	table, name := noise.Table(), Modules[module].Name
	switch wasmConnect(int32(module), builds[module], firstFloat(table[:]), int32(len(table))) {
	case connected:
		return nil
	case notProvided:
		return fmt.Errorf("%w: the host of this program does not bring %s.wasm", ErrAbsent, name)
	case noVectors:
		return fmt.Errorf("%w: this browser or processor lacks the vector instructions of WebAssembly", ErrAbsent)
	case otherBuild:
		return fmt.Errorf("%w: %s.wasm is of another build than this program", ErrAbsent, name)
	case noMemory:
		return fmt.Errorf("%w: not enough memory to start %s.wasm", ErrAbsent, name)
	}
	return fmt.Errorf("%w: %s.wasm is damaged", ErrAbsent, name)
}

// numbers are those of the folders of worlds in the module that has them.
var numbers = func() map[string]int32 {
	all := map[string]int32{}
	for module := range Modules {
		for i, p := range Packages(module) {
			all[p] = int32(i)
		}
	}
	return all
}()

func play(w *World, s *episode.Setup, params []float64, seeds []uint64, theta, norm []float32, bounds, returns []float64, sums []uint64) (int64, bool) {
	n := &s.Net
	integers := [...]int64{
		int64(n.Layers),
		int64(n.Sizes[0]), int64(n.Sizes[1]), int64(n.Sizes[2]), int64(n.Sizes[3]), int64(n.Sizes[4]),
		int64(n.Sizes[5]), int64(n.Sizes[6]), int64(n.Sizes[7]), int64(n.Sizes[8]), int64(n.Sizes[9]),
		int64(n.Activation), flag(n.Bias), int64(n.Head), int64(n.Bins),
		int64(s.ObsDim), int64(s.ActDim), int64(s.Widest), int64(s.Lanes), int64(s.Hold), s.Limit, flag(s.Normalize),
	}
	reals := [...]float64{float64(s.Clip), s.Penalty, s.Bonus, s.Jitter}
	steps := wasmPlay(int32(w.Module()), numbers[w.Package], w.Variant, firstNumber(integers[:]), firstReal(reals[:]),
		firstWord(seeds), int32(len(seeds)), firstReal(bounds), int32(len(bounds)),
		firstReal(params), int32(len(params)), firstReal(returns), firstWord(sums), int32(len(sums)),
		firstFloat(theta), int32(len(theta)), firstFloat(norm), int32(len(norm)))
	return int64(steps), steps >= 0
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
