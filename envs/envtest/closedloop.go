package envtest

import (
	"flag"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

var loopEpisodes = flag.Int("envtest.episodes", 100, "how many episodes the controllers of closed loops play")

// Mean is a mean with its standard error.
type Mean struct{ Value, Error float64 }

// ClosedLoop checks that the mean return of a controller over -envtest.episodes episodes is within two
// combined standard errors of want, which Gymnasium gave. begin returns the controller of one episode: it
// writes the action for an observation.
func ClosedLoop(t *testing.T, spec *envs.Spec, want Mean, begin func() func(obs []float32, act []float64)) {
	t.Helper()
	env, obs, act := spec.New(), make([]float32, spec.ObsDim), make([]float64, spec.Action.Dim)
	episodes, sum, squares, steps := *loopEpisodes, 0.0, 0.0, 0
	for seed := range uint64(episodes) {
		rng := noise.NewStream(seed, noise.DomainEpisode)
		env.Reset(&rng, obs)
		control, total := begin(), 0.0
		for range spec.MaxSteps {
			control(obs, act)
			reward, terminated := env.Step(&rng, act, obs)
			total += reward
			steps++
			if terminated {
				break
			}
		}
		sum += total
		squares += total * total
	}
	n := float64(episodes)
	got := Mean{Value: sum / n, Error: math.Sqrt((squares/n - sum/n*sum/n) / n)}
	combined := math.Hypot(got.Error, want.Error)
	t.Logf("%s: %d episodes, %d steps: mean return %.1f +- %.1f, Gymnasium's %.1f +- %.1f: %.2f combined standard errors apart",
		spec.ID, episodes, steps, got.Value, got.Error, want.Value, want.Error, (got.Value-want.Value)/combined)
	if !(math.Abs(got.Value-want.Value) <= 2*combined) {
		t.Errorf("mean return %.1f +- %.1f, want %.1f +- %.1f", got.Value, got.Error, want.Value, want.Error)
	}
}
