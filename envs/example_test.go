package envs_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/noise"
)

func ExampleFind() {
	spec, err := envs.Find("cartpole-v1")
	fmt.Println(spec.ID, spec.MaxSteps, spec.SolvedReturn, err)
	_, err = envs.Find("CartPole-v2")
	fmt.Println(err)
	// Output:
	// CartPole-v1 500 475 <nil>
	// unknown environment "CartPole-v2"; nearest: CartPole-v1
}

// An episode with the pole always pushed to where it leans.
func ExampleEnv() {
	spec, err := envs.Find("CartPole-v1")
	if err != nil {
		panic(err)
	}
	env := spec.New()
	obs, act := make([]float32, spec.ObsDim), make([]float64, spec.Action.Dim)
	rng := noise.Scripted([]float64{0.5, 0.5, 0.75, 0.5})
	env.Reset(&rng, obs)
	steps, sum := 0, 0.0
	for steps < spec.MaxSteps {
		act[0] = 0
		if obs[2] > 0 {
			act[0] = 1
		}
		reward, terminated := env.Step(&rng, act, obs)
		steps++
		sum += reward
		if terminated {
			break
		}
	}
	fmt.Println(steps, sum)
	// Output: 53 53
}
