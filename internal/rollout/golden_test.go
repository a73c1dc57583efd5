package rollout_test

import (
	"crypto/sha256"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestGoldenResults holds the results of candidates in every world with a preset,
// with the policy of the preset. Few of the walkers: an episode takes seconds under an
// emulator.
func TestGoldenResults(t *testing.T) {
	for _, id := range rollout.PresetEnvs() {
		r := newRun(t, id, "openai-es")
		candidates, episodes := 8, 2
		if walker(id) {
			candidates, episodes = 2, 1
		}
		got, err := rollout.NewPool(r.plan(), 0).Evaluate(r.task(candidates, episodes, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := rollout.MarshalResults(got)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		golden.Check(t, "results/"+id, sum[:])
	}
}

// TestGoldenTraining holds the state after generations of training on CartPole.
func TestGoldenTraining(t *testing.T) {
	for _, m := range evolve.Methods() {
		r := newRun(t, "CartPole-v1", m.Name)
		s, _, _ := train(t, r, 2000, 3000)
		sum := s.Digest()
		golden.Check(t, "training/"+m.Name, sum[:])
	}
}
