package envtest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Tolerance says how close an environment has to be to the recorded one.
type Tolerance struct {
	// Step is for state and reward after one step, relative above 1.
	Step float64
	// Episode is for the states of a replayed episode, relative above 1, and EpisodeReward for its rewards.
	Episode, EpisodeReward float64
	// ObsULP is by how many units in the last place of a float32 an observation of a
	// step may differ, and ResetULP one of a reset.
	ObsULP, ResetULP int32
}

// record is one line of a recording: see testdata/record_gymnasium.py.
type record struct {
	Kind       string
	ID         string
	Gymnasium  string
	Params     envs.Params
	Draws      []float64
	State      []float64
	Wide       bool
	Action     float64
	Next       []float64
	Obs        []float32
	Reward     float64
	Terminated bool
	Actions    []float64
	States     [][]float64
	Rewards    []float64
}

// oracle compares one environment with its recording and counts.
type oracle struct {
	t         *testing.T
	spec      *envs.Spec
	tolerance Tolerance
	env       envs.Stateful
	obs       []float32
	act       []float64

	count                           map[string]int
	exactSteps, exactObs, terminals int
	stepError, episodeError         float64
	maxULP                          int32
}

// Oracle compares the environment with what Gymnasium did, as recorded in gymnasium_<id>.jsonl.gz in folder: resets
// with given draws, single steps from given states, and replayed episodes. If the environment has parameters,
// gymnasium_<id>_params.jsonl.gz has the same with others. It logs how near they are.
func Oracle(t *testing.T, spec *envs.Spec, folder string, tolerance Tolerance) {
	compareRecord(t, spec, filepath.Join(folder, "gymnasium_"+spec.ID+".jsonl.gz"), tolerance)
	if len(spec.Params) > 0 {
		compareRecord(t, spec, filepath.Join(folder, "gymnasium_"+spec.ID+"_params.jsonl.gz"), tolerance)
	}
}

// compareRecord compares with one file.
func compareRecord(t *testing.T, spec *envs.Spec, name string, tolerance Tolerance) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{
		t: t, spec: spec, tolerance: tolerance,
		obs: make([]float32, spec.ObsDim), act: make([]float64, spec.Action.Dim), count: map[string]int{},
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		o.count[r.Kind]++
		o.line(n, &r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	o.summary()
}

// line compares one line.
func (o *oracle) line(n int, r *record) {
	switch r.Kind {
	case "header":
		if r.ID != o.spec.ID {
			o.t.Fatalf("line %d: a recording of %q, want %q", n, r.ID, o.spec.ID)
		}
		with, err := o.spec.With(r.Params)
		if err != nil {
			o.t.Fatalf("line %d: %v", n, err)
		}
		o.env = with.New().(envs.Stateful)
	case "reset":
		o.reset(n, r)
	case "step":
		o.step(n, r)
	case "episode":
		o.episode(n, r)
	default:
		o.t.Fatalf("line %d: unknown kind %q", n, r.Kind)
	}
}

// reset checks that the recorded draws give the recorded state, to the bit.
func (o *oracle) reset(n int, r *record) {
	rng := noise.Scripted(r.Draws)
	o.env.Reset(&rng, o.obs)
	if rng.Exhausted() {
		o.t.Fatalf("line %d: Reset draws more than the recorded %d", n, len(r.Draws))
	}
	for i, got := range o.env.State() {
		if got != r.State[i] {
			o.t.Errorf("line %d: reset: state %d is %v, want %v", n, i, got, r.State[i])
		}
	}
	o.compareObs(n, r.Obs, o.tolerance.ResetULP)
}

// step checks one step from the recorded state.
func (o *oracle) step(n int, r *record) {
	if err := o.env.SetState(r.State, o.obs); err != nil {
		o.t.Fatalf("line %d: %v", n, err)
	}
	o.act[0] = r.Action
	var none noise.Stream
	reward, terminated := o.env.Step(&none, o.act, o.obs)
	exact := reward == r.Reward
	for i, got := range o.env.State() {
		exact = exact && got == r.Next[i]
		d := difference(got, r.Next[i])
		o.stepError = max(o.stepError, d)
		if !(d <= o.tolerance.Step) {
			o.t.Errorf("line %d: step: state %d is %v, want %v (off by %.3g)", n, i, got, r.Next[i], d)
		}
	}
	if d := difference(reward, r.Reward); !(d <= o.tolerance.Step) {
		o.t.Errorf("line %d: step: reward is %v, want %v (off by %.3g)", n, reward, r.Reward, d)
	}
	if terminated != r.Terminated {
		o.t.Errorf("line %d: step: terminated is %t, want %t", n, terminated, r.Terminated)
	}
	if exact {
		o.exactSteps++
	}
	if terminated {
		o.terminals++
	}
	if o.compareObs(n, r.Obs, o.tolerance.ObsULP) {
		o.exactObs++
	}
}

// episode replays recorded draws and actions.
func (o *oracle) episode(n int, r *record) {
	rng := noise.Scripted(r.Draws)
	o.env.Reset(&rng, o.obs)
	for step, action := range r.Actions {
		o.act[0] = action
		reward, terminated := o.env.Step(&rng, o.act, o.obs)
		for i, got := range o.env.State() {
			d := difference(got, r.States[step][i])
			o.episodeError = max(o.episodeError, d)
			if !(d <= o.tolerance.Episode) {
				o.t.Fatalf("line %d step %d: state %d is %v, want %v (off by %.3g)", n, step, i, got, r.States[step][i], d)
			}
		}
		if d := difference(reward, r.Rewards[step]); !(d <= o.tolerance.EpisodeReward) {
			o.t.Fatalf("line %d step %d: reward is %v, want %v", n, step, reward, r.Rewards[step])
		}
		if want := r.Terminated && step == len(r.Actions)-1; terminated != want {
			o.t.Fatalf("line %d step %d: terminated is %t, want %t", n, step, terminated, want)
		}
	}
	if rng.Exhausted() {
		o.t.Fatalf("line %d: more draws than the recorded %d", n, len(r.Draws))
	}
}

// compareObs compares the observation and reports whether it is the same to the bit.
func (o *oracle) compareObs(n int, want []float32, most int32) bool {
	exact := true
	for i, got := range o.obs {
		d := ulps(got, want[i])
		exact = exact && d == 0
		o.maxULP = max(o.maxULP, d)
		if d > most {
			o.t.Errorf("line %d: observation %d is %v, want %v (%d units in the last place)", n, i, got, want[i], d)
		}
	}
	return exact
}

// summary logs the figures and checks that the recording was a whole one.
func (o *oracle) summary() {
	o.t.Logf("%s: %d resets; %d steps, %d terminal, %d with state and reward equal to the bit, %d with equal observation; "+
		"largest error %.2g in a step, %.2g in %d episodes; observations within %d ulp",
		o.spec.ID, o.count["reset"], o.count["step"], o.terminals, o.exactSteps, o.exactObs,
		o.stepError, o.episodeError, o.count["episode"], o.maxULP)
	if o.count["header"] < 1 || o.count["reset"] < 50 || o.count["step"] < 1000 || o.count["episode"] < 5 {
		o.t.Errorf("the recording is not whole: %v", o.count)
	}
}

// difference is the distance of got and want, relative if want is above 1.
func difference(got, want float64) float64 {
	return math.Abs(got-want) / max(1, math.Abs(want))
}

// ulps counts the float32 values from a to b. +0 and -0 are the same.
func ulps(a, b float32) int32 {
	d := int64(place(a)) - int64(place(b))
	return int32(min(max(d, -d), math.MaxInt32))
}

// place numbers the float32 values in ascending order, with 0 at both zeros.
func place(x float32) int32 {
	if b := int32(math.Float32bits(x)); b >= 0 {
		return b
	}
	return -int32(math.Float32bits(-x))
}
