package evolve_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// A generation: two candidates are tried and the better one moves the model.
func Example() {
	method, err := evolve.Find("dises")
	if err != nil {
		fmt.Println(err)
		return
	}
	params, err := method.Complete(evolve.Params{"sigma": 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	strategy, err := method.New(params, evolve.Size{Dim: 2, Population: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := strategy.Init(make([]float32, 2))
	candidate := make([]float32, 2)
	strategy.Candidate(candidate, state, 8, 1)
	next := strategy.Apply(state, []evolve.Result{
		{Seed: 7, Fitness: [2]int64{10}},
		{Seed: 8, Fitness: [2]int64{30}},
	})
	fmt.Println(next.Gen, next.Theta[0] == candidate[0], next.Theta[1] == candidate[1])
	// Output: 1 true true
}
