//go:build js && wasm

// Command worker is what each Web Worker of the tab runs: it evaluates tasks and draws episodes, and knows nothing of
// networks, logs or signatures. It sets one global object, evocompute, which web/src/types/compute.d.ts declares;
// web/src/worker.ts moves the messages.
package main

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// program is what a worker holds between messages. JavaScript calls it from one thread, one call at a time.
type program struct {
	worker  *rollout.Worker
	theater *theater
}

// gcPercent is how much the heap grows before it is collected: by 1 MiB where it is small, in place of 4. A page
// has one such program for each core and one that draws, none of which gives memory back, and evaluations allocate
// nothing.
const gcPercent = 25

func main() {
	debug.SetGCPercent(gcPercent)
	if name, err := kernel.UseFastest(); err != nil {
		fmt.Printf("worker: this browser's vector instructions do not compute as they should (%v); going on with kernel %s\n", err, name)
	}
	p := new(program)
	js.Global().Set("evocompute", map[string]any{
		"setup":    answer(p.setup),
		"state":    answer(p.state),
		"evaluate": answer(p.evaluate),
		"validate": answer(p.validate),
		"fold":     answer(p.fold),
		"cast":     answer(p.cast),
		"show":     answer(p.show),
	})
	select {}
}

// answer makes a JavaScript function of f: it returns {value} or {error}, since a Go function cannot throw.
func answer(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		value, err := f(args)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"value": value}
	})
}

// setup prepares for a run: args are the bytes of a rollout.Setup; the value names the engine that plays its
// episodes.
func (p *program) setup(args []js.Value) (any, error) {
	setup, err := rollout.UnmarshalSetup(toGo(args[0]))
	if err != nil {
		return nil, err
	}
	engine, reason := worlds.UseFastest(setup.EnvID)
	if reason != nil {
		fmt.Printf("worker: episodes are played in Go: %v\n", reason)
	}
	worker, err := rollout.NewWorker(setup)
	if err != nil {
		return nil, err
	}
	theater, err := newTheater(setup)
	if err != nil {
		return nil, err
	}
	p.worker, p.theater = worker, theater
	return engine, nil
}

// state sets what the tasks to come are run on: args are the bytes of an evolve.State.
func (p *program) state(args []js.Value) (any, error) {
	if p.worker == nil {
		return nil, rollout.ErrSetup
	}
	return nil, p.worker.SetState(toGo(args[0]))
}

// evaluate runs a task: args are its bytes; the value is those of its results.
func (p *program) evaluate(args []js.Value) (any, error) {
	if p.worker == nil {
		return nil, rollout.ErrSetup
	}
	results, err := p.worker.Evaluate(toGo(args[0]))
	if err != nil {
		return nil, err
	}
	return toJS(results), nil
}

// validate runs held-out episodes: args are the bytes of an evolve.State, or null for the one before, and of
// episode seeds; the value is the returns.
func (p *program) validate(args []js.Value) (any, error) {
	if p.worker == nil {
		return nil, rollout.ErrSetup
	}
	returns, err := p.worker.Validate(toGo(args[0]), toGo(args[1]))
	if err != nil {
		return nil, err
	}
	return toJS(returns), nil
}

// fold applies generations: args are the bytes of an evolve.State, or null for what the last fold gave, and of a
// rollout.Fold; the value is what they gave.
func (p *program) fold(args []js.Value) (any, error) {
	if p.worker == nil {
		return nil, rollout.ErrSetup
	}
	folded, err := p.worker.Fold(toGo(args[0]), toGo(args[1]))
	if err != nil {
		return nil, err
	}
	return toJS(folded), nil
}

// cast sets the policy that is shown from the next episode on: args are its height and the bytes of an
// evolve.State. With the seed of a candidate, as text, and a sign, that candidate is shown at once.
func (p *program) cast(args []js.Value) (any, error) {
	if p.theater == nil {
		return nil, rollout.ErrSetup
	}
	gen, state := uint64(args[0].Float()), toGo(args[1])
	if args[2].IsNull() {
		return nil, p.theater.cast(gen, state)
	}
	seed, err := strconv.ParseUint(args[2].String(), 10, 64)
	if err != nil {
		return nil, err
	}
	return nil, p.theater.castCandidate(gen, state, seed, float32(args[3].Float()))
}

// show plays on: args are the number of steps and the seed of the next episode; the value is a reel as JSON.
func (p *program) show(args []js.Value) (any, error) {
	if p.theater == nil {
		return nil, rollout.ErrSetup
	}
	reel, err := p.theater.play(args[0].Int(), uint64(args[1].Float()))
	if err != nil {
		return nil, err
	}
	return string(reel), nil
}

// toGo copies bytes; those of null are nil.
func toGo(v js.Value) []byte {
	if v.IsNull() {
		return nil
	}
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}

func toJS(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
