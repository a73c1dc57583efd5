//go:build !js

package evoswarm_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/evoswarm/evoswarm"
	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/examples/hover" // an environment of another package; its init function registers it
)

// The maximum of a function of ten values, with a strategy that learns how they depend on each other.
func ExampleOptimizer() {
	best := func(x []float32) float64 { // largest, 0, where all values are 3
		sum := 0.0
		for i, v := range x {
			d := float64(v) - 3
			sum -= float64(float64(i+1) * float64(d*d))
		}
		return sum
	}
	search, err := evoswarm.New("cma-es", evoswarm.Params{"sigma": 1}, 10, 12)
	if err != nil {
		panic(err)
	}
	for search.Generation() < 200 {
		var fitness []float64
		for _, candidate := range search.Ask() {
			fitness = append(fitness, best(candidate.Vector))
		}
		if err := search.Tell(fitness...); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%.2f\n", search.Mean())
	// Output: [3.00 3.00 3.00 3.00 3.00 3.00 3.00 3.00 3.00 3.00]
}

// A saved optimizer continues elsewhere, with the same bits.
func ExampleOptimizer_Restore() {
	one, _ := evoswarm.New("snes", nil, 3, 8)
	if err := one.Start(7, []float32{1, 2, 3}); err != nil {
		panic(err)
	}
	saved, err := one.State()
	if err != nil {
		panic(err)
	}
	other, _ := evoswarm.New("snes", nil, 3, 8)
	fmt.Println(other.Restore(saved), fmt.Sprint(one.Ask()) == fmt.Sprint(other.Ask()))

	smaller, _ := evoswarm.New("snes", nil, 3, 4)
	fmt.Println(smaller.Restore(saved))
	// Output:
	// <nil> true
	// evolve: bad state: it is of an optimizer with another strategy, other settings or another size
}

// Training until the environment is solved, and the policy that came out.
func ExampleTrain() {
	result, err := evoswarm.Train(context.Background(), evoswarm.Options{Env: "CartPole-v1", Strategy: "dises", Seed: 7})
	if err != nil {
		panic(err)
	}
	held, err := result.Model.Evaluate(100)
	if err != nil {
		panic(err)
	}
	leaning := []float32{0, 0, 0.1, 0} // the pole leans to the right
	fmt.Println(result.Solved, held.Mean >= 475, result.Model.Act(leaning))
	// Output: true true [1]
}

// A log gives the model back, and each of its numbers can be checked.
func ExampleReplay() {
	ctx := context.Background()
	result, err := evoswarm.Train(ctx, evoswarm.Options{Env: "CartPole-v1", Strategy: "dises", Until: evoswarm.Until{Evaluations: 64}})
	if err != nil {
		panic(err)
	}
	again, err := evoswarm.Replay(ctx, bytes.NewReader(result.SeedLog), evoswarm.ReplayOptions{Check: evoswarm.CheckClaims})
	if err != nil {
		panic(err)
	}
	fmt.Println(again.Head == result.Head, again.Checked, fmt.Sprint(again.Model.Theta()) == fmt.Sprint(result.Model.Theta()))
	// Output: true 64 true
}

// cart is an environment that trains, in ten lines: a cart on a line that has to stay in the middle.
type cart struct{ x float64 }

var cartSpec = &envs.Spec{
	ID: "Middle-v0", Revision: 1, ObsDim: 1, ObsLow: []float64{-2}, ObsHigh: []float64{2}, Action: envs.BoxSpace(1, -1, 1),
	MaxSteps: 100, SolvedReturn: 90, New: func() envs.Env { return new(cart) },
}

func init() { envs.Register(cartSpec) }

func (c *cart) Spec() *envs.Spec { return cartSpec }
func (c *cart) Reset(rng *envs.Stream, obs []float32) {
	c.x = rng.UniformIn(-1, 1)
	obs[0] = float32(c.x)
}
func (c *cart) Step(_ *envs.Stream, act []float64, obs []float32) (reward float64, terminated bool) {
	c.x += float64(0.1 * min(max(envs.Real(act[0], 0), -1), 1))
	obs[0] = float32(c.x)
	return 1 - float64(c.x*c.x), c.x < -2 || c.x > 2
}

// An environment of one's own: three methods and a description are enough to train, evaluate and replay.
func ExampleTrain_ownEnv() {
	result, err := evoswarm.Train(context.Background(), evoswarm.Options{Env: "Middle-v0", Strategy: "openai-es"})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Solved, result.Model.Act([]float32{-1})[0] > 0) // left of the middle: to the right
	// Output: true true
}

// A complete environment of another package, which can also be drawn and traced: examples/hover, to be copied.
func ExampleTrain_otherPackage() {
	result, err := evoswarm.Train(context.Background(), evoswarm.Options{Env: "Hover-v0", Strategy: "openai-es", Population: 32})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Solved, result.Model.Act([]float32{-1, 0})[0] > 0) // too low: upwards
	// Output: true true
}

// What can be trained, and with what.
func Example_lists() {
	for _, env := range evoswarm.Envs() {
		if env.ID == "CartPole-v1" {
			fmt.Println(env.Title, env.ObsDim, env.Action.N, env.SolvedReturn)
		}
	}
	for _, s := range evoswarm.Strategies() {
		if s.Name == "dises" {
			for _, x := range s.Settings {
				if x.Name == "sigma" {
					fmt.Println(s.Name, x.Name, x.Min < x.Max)
				}
			}
		}
	}
	for _, p := range evoswarm.Presets() {
		if p.Env == "CartPole-v1" && p.Default {
			fmt.Println(p.Strategy, p.Policy.Kind)
		}
	}
	// Output:
	// Cart Pole 4 2 475
	// dises sigma true
	// dises linear
}

// Errors say what is wrong and what is allowed.
func ExampleNew_errors() {
	_, err := evoswarm.New("openai", nil, 10, 8)
	fmt.Println(err)
	_, err = evoswarm.New("openai-es", evoswarm.Params{"sigma": -1}, 10, 8)
	fmt.Println(err)
	search, _ := evoswarm.New("openai-es", nil, 10, 8)
	fmt.Println(search.Tell(1, 2, 3))
	fmt.Println(envs.Add(&envs.Spec{ID: "My/World"}))
	// Output:
	// evolve: unknown strategy "openai"; nearest: openai-es
	// evolve: bad strategy setting: openai-es: sigma is -1, want a number in [1e-06, 1000]
	// evoswarm: bad fitness: 3 values, want 8: one for each candidate of Ask, in its order
	// bad environment "My/World": its ID holds '/', want letters, digits, '-', '_' and '.', a letter or digit first
}
