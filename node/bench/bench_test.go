package bench

import (
	"math"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

func TestBenchRow(t *testing.T) {
	limit := func(v float64) func() float64 { return func() float64 { return v } }
	rate := &task{name: "rate", unit: "M steps/s", work: 100, repeat: 5, best: 10 * time.Microsecond, limit: limit(100)}
	duration := &task{name: "time", unit: "ms", work: 4, repeat: 2, best: 16 * time.Millisecond, limit: limit(1)}
	one := &task{unit: "ns", work: 10, repeat: 1, best: 60}
	many := &task{unit: "ns", work: 10, repeat: 1, best: 20}
	for _, c := range []struct {
		task         *task
		value, ratio float64
	}{
		{rate, 50, 0.5},
		{duration, 2, 0.5},
		{against("sum", many, one, 4), 3, 0.75},
	} {
		r := c.task.row()
		if r.Value != c.value || math.Abs(*r.Ratio-c.ratio) > 1e-12 {
			t.Errorf("%s: got %g, ratio %g, want %g, %g", r.Name, r.Value, *r.Ratio, c.value, c.ratio)
		}
	}
	if r := one.row(); r.Limit != nil || r.Ratio != nil {
		t.Errorf("a row without a limit has limit %v, ratio %v", r.Limit, r.Ratio)
	}
}

// Every world has a row.
func TestBenchWorlds(t *testing.T) {
	tasks, err := envTasks()
	if err != nil || len(tasks) != len(envs.All()) {
		t.Fatalf("got %d rows, %v, want %d", len(tasks), err, len(envs.All()))
	}
	for _, task := range tasks {
		task.run()
	}
}

// What is measured apart is what the episode consists of.
func TestBenchRollout(t *testing.T) {
	for _, id := range []string{"CartPole-v1", "Pendulum-v1"} {
		r, err := newBenchRollout(id, "tanh")
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for _, episode := range r.episodes {
			n := len(episode.acts) / r.plan.Policy.ActDim()
			if steps += n; len(episode.obs) != n*r.plan.Env.ObsDim {
				t.Errorf("%s: %d numbers observed in %d steps", id, len(episode.obs), n)
			}
		}
		ran := rollout.NewEvaluator(r.plan).Run(r.state, r.state.Theta, benchSeeds())
		if most := float64(benchEpisodes * benchSteps); r.steps != float64(steps) || ran.Steps != uint64(steps) || r.steps < 0.9*most {
			t.Errorf("%s: %g steps, %d recorded, rollouts take %d, want at least nine tenths of %g", id, r.steps, steps, ran.Steps, most)
		}
		for _, task := range r.tasks() {
			if task.run != nil {
				task.run()
			}
		}
	}
}
