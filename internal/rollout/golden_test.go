package rollout_test

import (
	"crypto/sha256"
	"testing"

	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestGoldenResults holds the results of candidates in every world with a preset, with the policy of the
// preset. Few of the walkers and of MuJoCo's worlds: an episode takes seconds under an emulator.
func TestGoldenResults(t *testing.T) { onEachEngine(t, goldenResults) }

func goldenResults(t *testing.T) {
	for _, id := range presets.Envs() {
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
