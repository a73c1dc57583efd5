package worlds

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// TestLands: the lander of the self-test comes to rest, which the engine decides by what it remembers of many steps.
func TestLands(t *testing.T) {
	env, err := envs.Find("LunarLander-v3")
	if err != nil {
		t.Fatal(err)
	}
	pol, err := policy.New(policy.Spec{Kind: "linear", Bias: true, Head: "argmax"}, env)
	if err != nil {
		t.Fatal(err)
	}
	lander, obs, act := env.New(), make([]float32, env.ObsDim), make([]float64, 1)
	rng, sc := noise.NewStream(0, noise.DomainEpisode), pol.Scratch(1)
	lander.Reset(&rng, obs)
	for range landed {
		pol.Act(lands, obs, sc, act)
		if reward, over := lander.Step(&rng, act, obs); over {
			if reward < 90 || obs[6] != 1 || obs[7] != 1 {
				t.Errorf("the episode ended with a reward of %v and touches %v, want a landing", reward, obs[6:])
			}
			return
		}
	}
	t.Error("the lander did not come to rest")
}
