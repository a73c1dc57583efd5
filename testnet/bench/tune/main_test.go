package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/node/sweep"
)

// planOf reads a plan with that text.
func planOf(t *testing.T, text string) (*plan, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readPlan(name)
}

// TestTune tunes a world where all settings but one cannot learn, and finds that one, which solves fresh seeds too.
func TestTune(t *testing.T) {
	p, err := planOf(t, `[[world]]
env = "MountainCarContinuous-v0"
share = 1
tuning = [1000, 1001]
fresh = [70000, 70001]
confirm = ["ars"]
trials = ["--strategy random-search --param sigma=0.000001", "--strategy ars --param sigma=0.000001 --param alpha=0.000001", "--strategy openai-es --param alpha=0.000001 --param sigma=0.000001", "--strategy snes"]
`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	r := &report{folder: t.TempDir(), limit: 4 * time.Second}
	if err := p.run(ctx, &gate{free: 2}, 2, time.Second, r); err != nil {
		t.Fatal(err)
	}
	rows, err := sweep.Read(filepath.Join(r.folder, "MountainCarContinuous-v0-snes.csv"))
	if err != nil || len(rows) != 2 || !rows[0].Solved || !rows[1].Solved || rows[0].Steps == 0 {
		t.Errorf("snes on fresh seeds: %+v, %v, want both solved", rows, err)
	}
	rows, err = sweep.Read(filepath.Join(r.folder, "MountainCarContinuous-v0-ars.csv"))
	if err != nil || len(rows) != 2 || rows[0].Solved {
		t.Errorf("ars, which is to be confirmed: %+v, %v, want two unsolved rows", rows, err)
	}
	rounds := map[string]int{}
	for _, c := range r.choices {
		if c.phase == "tuning" {
			rounds[strings.Fields(c.flags)[1]] = c.round
		}
	}
	if rounds["snes"] != 2 || rounds["ars"]+rounds["random-search"]+rounds["openai-es"] != 4 {
		t.Errorf("last rounds %v, want snes and one other in the second", rounds)
	}
}

// TestGateIsFair: two worlds with shares of 1 and 3 have their cores for so long, and no more at once than there are.
func TestGateIsFair(t *testing.T) {
	g := &gate{free: 2}
	one, three := &world{Share: 1}, &world{Share: 3}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	done := make(chan bool)
	for i := range 8 {
		w := one
		if i%2 == 1 {
			w = three
		}
		go func() {
			for own := (&trial{world: w, cores: 1}); g.enter(ctx, own); {
				start := time.Now()
				time.Sleep(time.Millisecond)
				g.leave(own, time.Since(start))
			}
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	if g.free != 2 || len(g.waiting) != 0 {
		t.Errorf("%d cores are free and %d wait at the end, want 2 and none", g.free, len(g.waiting))
	}
	if ratio := three.held.Seconds() / one.held.Seconds(); ratio < 2.5 || ratio > 3.5 {
		t.Errorf("the larger share had %.2f times the cores of the smaller one, want 3", ratio)
	}
	if all := one.held + three.held; all > 1100*time.Millisecond {
		t.Errorf("both had cores for %v in half a second on two", all)
	}
}

func TestBest(t *testing.T) {
	for _, tt := range []struct {
		returns []float64
		want    float64
		ok      bool
	}{{nil, 0, false}, {[]float64{5}, 5, true}, {[]float64{5, 7}, 6, true}, {[]float64{0, 3, 9, 3, -9}, 5, true}} {
		var points []point
		for _, ret := range tt.returns {
			points = append(points, point{ret: ret})
		}
		if got, ok := best(points); got != tt.want || ok != tt.ok {
			t.Errorf("%v: got %v, %v, want %v, %v", tt.returns, got, ok, tt.want, tt.ok)
		}
	}
}

func TestBadPlans(t *testing.T) {
	const good = "[[world]]\nenv = \"CartPole-v1\"\nshare = 1\ntuning = [1]\n"
	for text, want := range map[string]string{
		"":                              "no [[world]]",
		good:                            "at least one of trials",
		good + `trials = ["--sigma 1"]`: "sigma",
		good + `trials = ["--population 3 --strategy ars"]`:                  "population",
		good + "trials = [\"\"]\nkeep = 1.5":                                 "keep between 0 and 1",
		good + "trials = [\"\"]\nworkers = -1":                               "workers",
		good + "trials = [\"\"]\nfast = true":                                "strict mode",
		strings.Replace(good, "CartPole-v1", "CartPol", 1) + `trials = [""]`: "unknown environment",
	} {
		if _, err := planOf(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}
