package rollout_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// generations are n steps as a run has them: results of the pool on each state.
func (r run) generations(t *testing.T, n int) (fold rollout.Fold, states []*evolve.State) {
	t.Helper()
	plan := r.plan()
	pool := rollout.NewPool(plan, 1)
	task := r.task(int(r.preset.Population), 1, true)
	fold.State = task.State
	for range n {
		got, err := pool.Evaluate(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		var step rollout.FoldStep
		for i, c := range got {
			step.Results = append(step.Results, evolve.Result{Seed: task.Seeds[i], Fitness: c.Fitness, Steps: c.Steps})
		}
		for i := range plan.ObserveEpisodes() {
			step.Observe = append(step.Observe, i)
		}
		fold.Steps = append(fold.Steps, step)
		task.State = plan.Apply(task.State, step.Results, step.Observe)
		states = append(states, task.State)
	}
	return fold, states
}

// TestFoldIsApply sends a fold over the border as bytes: it gives what Apply gives generation by generation.
func TestFoldIsApply(t *testing.T) {
	for _, name := range []string{"dises", "openai-es", "ars"} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, "CartPole-v1", name)
			w, err := rollout.NewWorker(r.setup())
			if err != nil {
				t.Fatal(err)
			}
			fold, states := r.generations(t, 3)
			from, err := fold.State.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			b, err := rollout.MarshalFold(fold)
			if err != nil {
				t.Fatal(err)
			}
			if b, err = w.Fold(from, b); err != nil {
				t.Fatal(err)
			}
			got, err := rollout.UnmarshalFolded(b, 3)
			if err != nil {
				t.Fatal(err)
			}
			for i, native := range r.plan().Fold(fold) {
				want := states[i]
				if got[i].Digest != want.Digest() || got[i].Theta != want.ThetaDigest() || native.Digest != want.Digest() || native.Theta != want.ThetaDigest() {
					t.Errorf("step %d: worker and pool give %x and %x, want %x", i, got[i].Digest, native.Digest, want.Digest())
				}
				if last := i == len(states)-1; (got[i].State != nil) != last || last && got[i].State.Digest() != want.Digest() {
					t.Errorf("step %d: state %v, want that of the last step alone", i, got[i].State)
				}
			}
			if _, err := w.Fold(from[1:], b); !errors.Is(err, evolve.ErrState) {
				t.Errorf("a torn state: %v, want ErrState", err)
			}
			if _, err := w.Fold(from, b); !errors.Is(err, rollout.ErrTask) {
				t.Errorf("an answer for a fold: %v, want ErrTask", err)
			}
		})
	}
}

var tinyFold = rollout.Fold{State: &evolve.State{Gen: 3}, Steps: []rollout.FoldStep{
	{Results: []evolve.Result{{Seed: 0x0102, Fitness: [2]int64{1, -1}, Steps: 2}}, Observe: []uint64{7}},
}}

const tinyFoldBytes = "65766f666f6c6431" + "0300000000000000" + "01000000" + "01000000" + "01000000" +
	"0201000000000000" + "0100000000000000" + "ffffffffffffffff" + "0200000000000000" + "0700000000000000"

func TestFoldBytes(t *testing.T) {
	b, err := rollout.MarshalFold(tinyFold)
	if got := hex.EncodeToString(b); err != nil || got != tinyFoldBytes {
		t.Errorf("got %s, %v, want %s", got, err, tinyFoldBytes)
	}
	for n := range b {
		if _, err := rollout.UnmarshalFold(b[:n], tinyFold.State); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%d bytes: %v, want ErrTask", n, err)
		}
	}
	if _, err := rollout.UnmarshalFold(append(b, 0), tinyFold.State); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("a byte after the end: %v, want ErrTask", err)
	}
	if _, err := rollout.UnmarshalFold(b, &evolve.State{Gen: 4}); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("another generation: %v, want ErrTask", err)
	}
	for name, fold := range map[string]rollout.Fold{
		"no state":      {Steps: tinyFold.Steps},
		"no steps":      {State: tinyFold.State},
		"many steps":    {State: tinyFold.State, Steps: make([]rollout.FoldStep, rollout.MaxFoldSteps+1)},
		"many results":  {State: tinyFold.State, Steps: []rollout.FoldStep{{Results: make([]evolve.Result, rollout.MaxCandidates+1)}}},
		"many episodes": {State: tinyFold.State, Steps: []rollout.FoldStep{{Observe: make([]uint64, rollout.MaxEpisodes+1)}}},
	} {
		if _, err := rollout.MarshalFold(fold); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%s: %v, want ErrTask", name, err)
		}
	}
	if _, err := rollout.MarshalFolded([]rollout.Folded{{}}); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("no last state: %v, want ErrTask", err)
	}
}

func TestFoldRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		u := rapid.Uint64()
		fold := rollout.Fold{State: &evolve.State{Gen: u.Draw(r, "gen")}}
		for range rapid.IntRange(1, 3).Draw(r, "steps") {
			step := rollout.FoldStep{Results: []evolve.Result{}, Observe: rapid.SliceOfN(u, 0, 3).Draw(r, "episodes")}
			for range rapid.IntRange(0, 4).Draw(r, "results") {
				step.Results = append(step.Results, evolve.Result{Seed: u.Draw(r, "seed"), Steps: u.Draw(r, "steps"),
					Fitness: [2]int64{rapid.Int64().Draw(r, "+"), rapid.Int64().Draw(r, "-")}})
			}
			fold.Steps = append(fold.Steps, step)
		}
		b, err := rollout.MarshalFold(fold)
		if err != nil {
			r.Fatal(err)
		}
		if got, err := rollout.UnmarshalFold(b, fold.State); err != nil || !reflect.DeepEqual(got, fold) {
			r.Fatalf("got %+v, %v, want %+v", got, err, fold)
		}
	})
}

func FuzzFold(f *testing.F) {
	b, _ := hex.DecodeString(tinyFoldBytes)
	f.Add(b)
	f.Add(b[:28])
	f.Fuzz(func(t *testing.T, b []byte) {
		fold, err := rollout.UnmarshalFold(b, tinyFold.State)
		if err != nil {
			if !errors.Is(err, rollout.ErrTask) {
				t.Fatalf("error %v is not ErrTask", err)
			}
			return
		}
		if again, err := rollout.MarshalFold(fold); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
		}
	})
}

func FuzzFolded(f *testing.F) {
	b, _ := rollout.MarshalFolded([]rollout.Folded{{}, {State: &evolve.State{Gen: 1, Theta: []float32{1}}}})
	f.Add(b, 2)
	f.Add(b, -1)
	f.Fuzz(func(t *testing.T, b []byte, want int) {
		folded, err := rollout.UnmarshalFolded(b, want)
		if err != nil {
			if !errors.Is(err, rollout.ErrTask) && !errors.Is(err, evolve.ErrState) {
				t.Fatalf("error %v is neither ErrTask nor ErrState", err)
			}
			return
		}
		if again, err := rollout.MarshalFolded(folded); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
		}
	})
}
