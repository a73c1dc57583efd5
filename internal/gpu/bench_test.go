package gpu

import (
	"errors"
	"testing"
	"time"

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
