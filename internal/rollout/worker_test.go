package rollout_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"pgregory.net/rapid"
)

func (r run) setup() rollout.Setup {
	method, _ := evolve.Find(r.preset.Strategy)
	return rollout.Setup{
		EnvID: r.env.ID, EnvRevision: r.env.Revision, Policy: r.preset.Policy,
		Strategy: method.Name, StrategyRevision: method.Revision, Params: r.preset.Params, Population: r.preset.Population,
	}
}

// TestWorkerGivesThePoolsResults sends everything over the border as bytes.
func TestWorkerGivesThePoolsResults(t *testing.T) {
	for _, id := range presets.Envs() {
		for _, name := range []string{"dises", "openai-es"} {
			r := newRun(t, id, name)
			b, err := rollout.MarshalSetup(r.setup())
			if err != nil {
				t.Fatal(err)
			}
			setup, err := rollout.UnmarshalSetup(b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(setup, r.setup()) {
				t.Errorf("%s %s: setup became %+v, want %+v", id, name, setup, r.setup())
			}
			w, err := rollout.NewWorker(setup)
			if err != nil {
				t.Fatal(err)
			}
			task := r.task(3, 1, false)
			state, err := task.State.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if err := w.SetState(state); err != nil {
				t.Fatal(err)
			}
			if b, err = rollout.MarshalTask(task); err != nil {
				t.Fatal(err)
			}
			if b, err = w.Evaluate(b); err != nil {
				t.Fatal(err)
			}
			got, err := rollout.UnmarshalResults(b, 3)
			if err != nil {
				t.Fatal(err)
			}
			want, err := rollout.NewPool(r.plan(), 1).Evaluate(task, nil)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: worker gives %v, pool %v, %v", id, name, got, want, err)
			}
		}
	}
}

func TestBadSetups(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*rollout.Setup)
		want   error
	}{
		"world":             {func(s *rollout.Setup) { s.EnvID = "CartPool-v1" }, envs.ErrUnknown},
		"world revision":    {func(s *rollout.Setup) { s.EnvRevision = 999 }, rollout.ErrSetup},
		"strategy":          {func(s *rollout.Setup) { s.Strategy = "magic" }, evolve.ErrMethod},
		"strategy revision": {func(s *rollout.Setup) { s.StrategyRevision = 999 }, rollout.ErrSetup},
		"policy":            {func(s *rollout.Setup) { s.Policy.Head = "clip" }, rollout.ErrSetup},
		"settings":          {func(s *rollout.Setup) { s.Params = evolve.Params{} }, evolve.ErrParams},
	} {
		s := newRun(t, "CartPole-v1", "").setup()
		test.change(&s)
		if _, err := rollout.NewWorker(s); !errors.Is(err, rollout.ErrSetup) || !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want ErrSetup and %v", name, err, test.want)
		}
	}
}

// TestSetupBytes: nothing is a setup but what MarshalSetup writes.
func TestSetupBytes(t *testing.T) {
	whole, err := rollout.MarshalSetup(everything(t, "Pendulum-v1", "dises", rollout.Running))
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, []byte("{}"), append(slices.Clone(whole), 0), make([]byte, rollout.MaxSetup+1)}
	for n := range whole {
		bad = append(bad, whole[:n])
	}
	for _, b := range bad {
		if _, err := rollout.UnmarshalSetup(b); !errors.Is(err, rollout.ErrSetup) {
			t.Errorf("UnmarshalSetup of %d bytes, %.40q: %v, want ErrSetup", len(b), b, err)
		}
	}
	for _, p := range []evolve.Params{{"sigma": 1}, {"name": strings.Repeat("x", rollout.MaxSetup)}} {
		if _, err := rollout.MarshalSetup(rollout.Setup{Params: p}); !errors.Is(err, rollout.ErrSetup) {
			t.Errorf("MarshalSetup with %.40v: %v, want ErrSetup", p, err)
		}
	}
}

func TestWorkerRefuses(t *testing.T) {
	r := newRun(t, "CartPole-v1", "")
	w, err := rollout.NewWorker(r.setup())
	if err != nil {
		t.Fatal(err)
	}
	task := r.task(1, 1, true)
	b, _ := rollout.MarshalTask(task)
	if _, err := w.Evaluate(b); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("a task before any state: %v, want ErrTask", err)
	}
	other := &evolve.State{Theta: []float32{1}}
	bad, _ := other.MarshalBinary()
	if err := w.SetState(bad); !errors.Is(err, evolve.ErrState) {
		t.Errorf("a state of another policy: %v, want ErrState", err)
	}
	good, _ := task.State.MarshalBinary()
	if err := w.SetState(good); err != nil {
		t.Fatal(err)
	}
	if err := w.SetState(good[1:]); !errors.Is(err, evolve.ErrState) {
		t.Errorf("a broken state: %v, want ErrState", err)
	}
	if _, err := w.Evaluate(b); err != nil {
		t.Errorf("after refused states: %v, want the state kept", err)
	}
	task.State.Gen++
	b, _ = rollout.MarshalTask(task)
	if _, err := w.Evaluate(b); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("a task of another generation: %v, want ErrTask", err)
	}
}

// TestWorkerValidates runs held-out episodes over the border, with a state and with that of the call before.
func TestWorkerValidates(t *testing.T) {
	r := newRun(t, "CartPole-v1", "")
	w, err := rollout.NewWorker(r.setup())
	if err != nil {
		t.Fatal(err)
	}
	state := r.plan().Initial(1)
	encoded, err := state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	seeds := []byte{5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0}
	if _, err := w.Validate(nil, seeds); !errors.Is(err, evolve.ErrState) {
		t.Errorf("no state so far: %v, want ErrState", err)
	}
	want := make([]float64, 2)
	rollout.NewEvaluator(r.plan()).Returns(state, []uint64{5, 6}, want)
	for _, from := range [][]byte{encoded, nil} {
		b, err := w.Validate(from, seeds)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rollout.UnmarshalReturns(b, 2); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if _, err := rollout.UnmarshalReturns(b, 3); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("two returns for three episodes: %v, want ErrTask", err)
		}
	}
	for _, torn := range [][]byte{nil, seeds[:7]} {
		if _, err := w.Validate(encoded, torn); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%d bytes of seeds: %v, want ErrTask", len(torn), err)
		}
	}
	if _, err := w.Validate(encoded[1:], seeds); !errors.Is(err, evolve.ErrState) {
		t.Errorf("a broken state: %v, want ErrState", err)
	}
	if _, err := w.Validate(nil, seeds); !errors.Is(err, evolve.ErrState) {
		t.Errorf("after a broken state: %v, want ErrState and not the returns of an older one", err)
	}
}

var tiny = rollout.Task{State: &evolve.State{Gen: 3}, Seeds: []uint64{0x0102}, Episodes: [][]uint64{{7, 8}}}

const tinyBytes = "65766f7461736b31" + "0300000000000000" + "01000000" + "01000000" + "02000000" +
	"0201000000000000" + "0700000000000000" + "0800000000000000"

func TestTaskBytes(t *testing.T) {
	b, err := rollout.MarshalTask(tiny)
	if got := hex.EncodeToString(b); err != nil || got != tinyBytes {
		t.Errorf("got %s, %v, want %s", got, err, tinyBytes)
	}
	for n := range b {
		if _, err := rollout.UnmarshalTask(b[:n], tiny.State); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%d bytes: %v, want ErrTask", n, err)
		}
	}
	b, err = rollout.MarshalResults([]rollout.CandidateResult{{Fitness: [2]int64{1, -1}, Steps: 2}})
	const want = "65766f7265733031" + "01000000" + "0100000000000000" + "ffffffffffffffff" + "0200000000000000"
	if got := hex.EncodeToString(b); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for n := range b {
		if _, err := rollout.UnmarshalResults(b[:n], 1); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%d bytes: %v, want ErrTask", n, err)
		}
	}
	if _, err := rollout.UnmarshalResults(b, 2); !errors.Is(err, rollout.ErrTask) {
		t.Errorf("one result for two candidates: %v, want ErrTask", err)
	}
}

func TestBorderRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		u := rapid.Uint64()
		task := rollout.Task{State: &evolve.State{Gen: u.Draw(r, "gen")}, Seeds: rapid.SliceOfN(u, 1, 9).Draw(r, "seeds"), HeldOut: rapid.Bool().Draw(r, "held out")}
		lists := rapid.SampledFrom([]int{1, len(task.Seeds)}).Draw(r, "lists")
		n := rapid.IntRange(1, 5).Draw(r, "episodes")
		var results []rollout.CandidateResult
		for range lists {
			task.Episodes = append(task.Episodes, rapid.SliceOfN(u, n, n).Draw(r, "list"))
			results = append(results, rollout.CandidateResult{
				Fitness: [2]int64{rapid.Int64().Draw(r, "+"), rapid.Int64().Draw(r, "-")}, Steps: u.Draw(r, "steps")})
		}
		b, err := rollout.MarshalTask(task)
		if err != nil {
			r.Fatal(err)
		}
		if got, err := rollout.UnmarshalTask(b, task.State); err != nil || !reflect.DeepEqual(got, task) {
			r.Fatalf("got %+v, %v, want %+v", got, err, task)
		}
		if b, err = rollout.MarshalResults(results); err != nil {
			r.Fatal(err)
		}
		if got, err := rollout.UnmarshalResults(b, lists); err != nil || !reflect.DeepEqual(got, results) {
			r.Fatalf("got %+v, %v, want %+v", got, err, results)
		}
	})
}

func FuzzTask(f *testing.F) {
	b, _ := hex.DecodeString(tinyBytes)
	f.Add(b)
	f.Add(b[:28])
	f.Add(append([]byte("evoheld1"), b[8:]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		task, err := rollout.UnmarshalTask(b, tiny.State)
		if err != nil {
			if !errors.Is(err, rollout.ErrTask) {
				t.Fatalf("error %v is not ErrTask", err)
			}
			return
		}
		if again, err := rollout.MarshalTask(task); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
		}
	})
}

func FuzzResults(f *testing.F) {
	b, _ := rollout.MarshalResults(make([]rollout.CandidateResult, 2))
	f.Add(b, 2)
	f.Add(b, -1)
	f.Fuzz(func(t *testing.T, b []byte, want int) {
		results, err := rollout.UnmarshalResults(b, want)
		if err != nil {
			if !errors.Is(err, rollout.ErrTask) {
				t.Fatalf("error %v is not ErrTask", err)
			}
			return
		}
		if again, err := rollout.MarshalResults(results); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
		}
	})
}

func FuzzSetup(f *testing.F) {
	for _, kind := range []string{rollout.Frozen, rollout.Running} {
		everything := everything(f, "Pendulum-v1", "dises", kind)
		everything.EnvParams = envs.Params{"g": 9.81}
		b, err := rollout.MarshalSetup(everything)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := rollout.UnmarshalSetup(b)
		if err == nil {
			if again, err := rollout.MarshalSetup(s); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
			}
			_, err = rollout.NewWorker(s)
		}
		if err != nil && !errors.Is(err, rollout.ErrSetup) {
			t.Fatalf("error %v is not ErrSetup", err)
		}
	})
}
