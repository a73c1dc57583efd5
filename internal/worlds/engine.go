package worlds

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/episode"
)

// Engines: what plays episodes.
const (
	// Go is internal/episode as the Go compiler made it, on every target.
	Go = "go"
	// C is the translation of it in a module of WebAssembly, in a browser.
	C = "c"
)

var (
	// ErrUnknown means that there is no engine of that name.
	ErrUnknown = errors.New("worlds: unknown engine")
	// ErrAbsent means that this program has no translated worlds; the message says why.
	ErrAbsent = errors.New("worlds: no translated worlds")
	// ErrDiffers means that the translation does not give the bits of Go and must not be used.
	ErrDiffers = errors.New("worlds: bits differ from Go")
)

// errStopped means that the translation did not come to an end.
var errStopped = errors.New("it stopped")

// ready says which worlds of [Table] the translation plays.
var ready []bool

// Use makes an engine the active one for the environments with the given ids, or for all; C has to pass [SelfTest] in
// each of them first. The others are played in Go. Only the driver calls it, before anything is evaluated; it is not
// safe while other goroutines compute. Errors are [ErrUnknown], [ErrAbsent] and [ErrDiffers]; Go is then the active
// engine.
func Use(engine string, ids ...string) error {
	ready = nil
	switch engine {
	case Go:
		return nil
	case C:
		return useC(ids)
	}
	return fmt.Errorf("%w %q", ErrUnknown, engine)
}

func useC(ids []string) error {
	if len(ids) == 0 {
		for i := range Table {
			ids = append(ids, Table[i].ID)
		}
	}
	passed := make([]bool, len(Table))
	for _, id := range ids {
		i := Find(id)
		if i < 0 {
			return fmt.Errorf("%w: %s is not among them", ErrAbsent, id)
		}
		if err := connect(Table[i].Module()); err != nil {
			return err
		}
		if err := SelfTest(i); err != nil {
			return err
		}
		passed[i] = true
	}
	ready = passed
	return nil
}

// UseFastest is Use of C where it can be used, else of Go, and returns the name of the active engine. err says why it
// is not C.
func UseFastest(ids ...string) (engine string, err error) {
	err = Use(C, ids...)
	return Active(), err
}

// Active returns the name of the active engine; Go until [Use] or [UseFastest] is called.
func Active() string {
	if ready != nil {
		return C
	}
	return Go
}

// Find returns the index in [Table] of the environment, or -1.
func Find(id string) int {
	for i := range Table {
		if Table[i].ID == id {
			return i
		}
	}
	return -1
}

// Play is [episode.Play] in the translation, for Table[world] with all of its parameters (envs.Spec.Values). It brings
// its own worlds, lanes and working memory. ok is false, and nothing has happened, if Go plays that world, world is -1,
// or there is no memory for that many parameters of the policy. Bit exact.
func Play(world int, s *episode.Setup, params []float64, seeds []uint64, theta, norm []float32, bounds, returns []float64, sums []uint64) (steps int64, ok bool) {
	if world < 0 || ready == nil || !ready[world] {
		return 0, false
	}
	return play(&Table[world], s, params, seeds, theta, norm, bounds, returns, sums)
}
