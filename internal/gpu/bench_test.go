package gpu

import (
	"errors"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestMeasure: what is measured is neither nothing nor more than the device can do, and the device still evaluates.
func TestMeasure(t *testing.T) {
	pairs, bytes, err := Limits(usable(t))
	if err != nil || pairs < 1e8 || pairs > 1e15 || bytes < 1e8 || bytes > 1e14 {
		t.Errorf("%g pairs and %g bytes per second, %v", pairs, bytes, err)
	}
	plan := setup(t, "CartPole-v1", "openai-es", nil)
	d, work := open(t, plan), task(plan, 512, 1)
	took, samples, err := d.Noise(work)
	if want := 1024 * plan.Policy.Dim(); err != nil || samples != want || took <= 0 || took > time.Minute {
		t.Errorf("%d samples in %v, %v, want %d", samples, took, err, want)
	}
	took, err = d.Passes(work)
	if err != nil {
		t.Fatal(err)
	}
	if rate := float64(1024*plan.Policy.Dim()) / took.Seconds(); rate > 1.5*pairs || rate < pairs/1000 {
		t.Errorf("passes make %g products per second, and the device %g", rate, pairs)
	}
	if _, err := d.Evaluate(work, nil); err != nil {
		t.Error(err)
	}
	if _, err := open(t, setup(t, "CartPole-v1", "cma-es", nil)).Passes(task(plan, 4, 1)); err == nil {
		t.Error("a strategy without perturbations is measured")
	}
	d.Close()
	if _, err := d.Passes(work); !errors.Is(err, ErrLost) {
		t.Errorf("a closed device: %v, want ErrLost", err)
	}
	if _, _, err := d.Noise(rollout.Task{}); err == nil {
		t.Error("a bad task is measured")
	}
}

// BenchmarkEvaluate times whole evaluations of populations, each candidate in an episode of its own, from fresh
// policies and from one that balances.
func BenchmarkEvaluate(b *testing.B) {
	wide := func(s *rollout.Setup) { s.Policy.Hidden = []uint64{64, 64} }
	linear := func(s *rollout.Setup) { s.Policy = policy.Spec{Kind: "linear", Head: "argmax"} }
	for _, c := range []struct {
		name, env string
		change    func(*rollout.Setup)
		theta     func(theta []float32)
		pairs     int
	}{
		{"balancing/64-64", "CartPole-v1", wide, balance, 1 << 16},
		{"balancing/linear", "CartPole-v1", linear, balanceLinear, 1 << 16},
		{"fresh/64-64", "CartPole-v1", wide, nil, 1 << 16},
		{"fresh/64-64", "LunarLander-v3", wide, nil, 1 << 14},
		{"fresh/64-64", "BipedalWalker-v3", wide, nil, 1 << 14},
	} {
		b.Run(c.env+"/"+c.name, func(b *testing.B) {
			plan := setup(b, c.env, "openai-es", c.change)
			d := open(b, plan)
			n := c.pairs
			if d.info.CPU {
				n = 64
			}
			work := rollout.Task{State: plan.Initial(7)}
			if c.theta != nil {
				c.theta(work.State.Theta)
			}
			for i := range uint64(n) {
				work.Seeds, work.Episodes = append(work.Seeds, i), append(work.Episodes, []uint64{i})
			}
			steps := uint64(0)
			for b.Loop() {
				results, err := d.Evaluate(work, nil)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range results {
					steps += r.Steps
				}
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}

// gains are a policy that balances the pole of CartPole-v1 for 500 steps: push where their sum with what is observed
// points to.
var gains = [4]float32{1, 2, 10, 10}

func balanceLinear(theta []float32) {
	for i, g := range gains {
		theta[2*i], theta[2*i+1] = -g, g
	}
}

// balance makes that of 64-64 units: those of the first layer agree, and the others repeat it.
func balance(theta []float32) {
	clear(theta)
	first, second, third := theta[:4*64], theta[5*64:5*64+64*64], theta[6*64+64*64:]
	for i, g := range gains {
		for o := range 64 {
			first[64*i+o] = 5 * g
		}
	}
	for i := range second {
		second[i] = 1
	}
	for i := range 64 {
		third[2*i], third[2*i+1] = -1, 1
	}
}
