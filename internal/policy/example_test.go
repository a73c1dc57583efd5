package policy_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/policy"
)

func ExamplePolicy() {
	world, err := envs.Find("CartPole-v1")
	if err != nil {
		panic(err)
	}
	p, err := policy.New(policy.Spec{Kind: "linear", Head: "argmax"}, world)
	if err != nil {
		panic(err)
	}
	// Rows are inputs: the pole's angle (third row) speaks for action 1.
	theta := []float32{
		0, 0,
		0, 0,
		0, 1,
		0, 0,
	}
	act, sc := make([]float64, p.ActDim()), p.Scratch(1)
	p.Act(theta, []float32{0, 0, 0.1, 0}, sc, act)
	fmt.Println(p.Dim(), act)
	p.Act(theta, []float32{0, 0, -0.1, 0}, sc, act)
	fmt.Println(p.Dim(), act)
	// Output:
	// 8 [1]
	// 8 [0]
}
