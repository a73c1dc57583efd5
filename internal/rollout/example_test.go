package rollout_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// One episode of a hand-made policy: push the cart to the side to which the pole
// leans and falls.
func ExampleEvaluator() {
	env, err := envs.Find("CartPole-v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	pol, err := policy.New(policy.Spec{Kind: "linear", Head: "argmax"}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Four inputs in rows, the outputs for left and right in columns.
	theta := []float32{0, 0, 0, 0, 0, 1, 0, 1}
	out := rollout.NewEvaluator(rollout.Plan{Env: env, Policy: pol}).Run(&evolve.State{Theta: theta}, theta, []uint64{1})
	fmt.Println(rollout.FromFitness(out.Fitness), out.Steps)
	// Output: 500 500
}
