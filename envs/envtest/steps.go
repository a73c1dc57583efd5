package envtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Nearness says how near an environment has to be to recorded steps of MuJoCo: values below 1 absolutely, others
// relatively.
type Nearness struct {
	// Step is for one step from a recorded state.
	Step float64
	// Run is for the 20 steps of a run; where MuJoCo itself ends further away when it starts off by one unit in the
	// last place, it is ten times that.
	Run float64
}

// Look is what a recording of MuJoCo has and an Env does not show: the observation before it is rounded, the number of
// contacts and of rows of constraints.
type Look struct {
	Obs            []float64
	Contacts, Rows int
}

// mujocoHead is the first line of a recording of MuJoCo: see testdata/record_mujoco.py.
type mujocoHead struct {
	ID, Mujoco, SHA256 string
	Nq, Nv, Nu, Obs    int
	Params             envs.Params
}

// mujocoRun is a line of such a recording: resets, or a run.
type mujocoRun struct {
	Resets []struct {
		Draws      []float64
		State, Obs []byte
	}
	Policy, Terminated                   string
	Start, Actions, States, Obs, Rewards []byte
	Ncon, Nefc                           []int
	Jitter                               float64
}

// With is spec.With for parameters that it takes.
func With(t *testing.T, spec *envs.Spec, params envs.Params) *envs.Spec {
	t.Helper()
	with, err := spec.With(params)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

// Steps compares the environment with what MuJoCo did, as recorded in the file name: resets with given draws, single
// steps from given states, and runs of 20 steps. The state vector has to begin with qpos, qvel and qacc_warmstart, and
// with what derived values the next reward reads. It logs how near they are, and how many steps are equal to the bit.
func Steps(t *testing.T, spec *envs.Spec, name string, look func(envs.Env) Look, want Nearness) {
	t.Run(filepath.Base(name), func(t *testing.T) {
		s := compareWith(t, spec, readRecordings(t, name)[0], look, want)
		if s.resets < 5 || s.steps < 100 || s.seen < 10 {
			t.Errorf("%d resets, %d steps, %d observations: the recording is not whole", s.resets, s.steps, s.seen)
		}
	})
}

// Keywords is Steps for each set of parameters with which the file name has the environment. Each parameter that
// changes the length of an observation has to be in one.
func Keywords(t *testing.T, spec *envs.Spec, name string, look func(envs.Env) Look, want Nearness) {
	recorded := envs.Params{}
	for _, r := range readRecordings(t, name) {
		if r.head.ID != spec.ID {
			continue
		}
		t.Run(envs.Label("with", r.head.Params), func(t *testing.T) {
			s := compareWith(t, With(t, spec, r.head.Params), r, look, want)
			if s.resets < 4 || s.steps < 60 || s.seen < 6 {
				t.Errorf("%d resets, %d steps, %d observations: the recording is not whole", s.resets, s.steps, s.seen)
			}
		})
		maps.Copy(recorded, r.head.Params)
	}
	for _, p := range spec.Params {
		_, ok := recorded[p.Name]
		if p.Kind == envs.BoolParam && !ok && With(t, spec, envs.Params{p.Name: 1 - p.Default}).ObsDim != spec.ObsDim {
			t.Errorf("%s: no recording with another %s, which changes the length of an observation", name, p.Name)
		}
	}
}

// compareWith compares the environment with a recording.
func compareWith(t *testing.T, spec *envs.Spec, r *recording, look func(envs.Env) Look, want Nearness) *steps {
	t.Helper()
	if r.head.ID != spec.ID || r.head.Obs != spec.ObsDim || r.head.Nu != spec.Action.Dim {
		t.Fatalf("%+v: want %s with %d observations and %d actions", r.head, spec.ID, spec.ObsDim, spec.Action.Dim)
	}
	s := &steps{
		T: t, want: want, look: look, head: r.head, env: spec.New().(envs.Stateful), obs: make([]float32, spec.ObsDim),
	}
	for i := range r.runs {
		for k := range r.runs[i].Resets {
			r := &r.runs[i].Resets[k]
			s.reset(fmt.Sprintf("reset %d", k), r.Draws, floats(r.State), floats(r.Obs))
		}
		if len(r.runs[i].Resets) == 0 {
			s.run(fmt.Sprintf("run %d (%s)", i, r.runs[i].Policy), &r.runs[i])
		}
	}
	t.Logf("%s, MuJoCo %s: %d resets, %d steps, %d equal to the bit, %d rewards and %d of %d observations; largest error of a "+
		"step %.2g, of a reward %.2g, of an observation %.2g, of a run %.2g; %d contacts, %d rows", spec.ID, r.head.Mujoco, s.resets, s.steps,
		s.equal, s.equalRewards, s.equalObs, s.seen, s.worst.state, s.worst.reward, s.worst.obs, s.worst.run, s.contacts, s.rows)
	return s
}

// recording is what MuJoCo did with an environment.
type recording struct {
	head mujocoHead
	runs []mujocoRun
}

// readRecordings reads a file of recordings and checks its hash: one, or one for each line with an id.
func readRecordings(t *testing.T, name string) []*recording {
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
	var first mujocoHead
	var all []*recording
	lines, sum := bufio.NewScanner(z), sha256.New()
	lines.Buffer(nil, 4<<20)
	for n := 0; lines.Scan(); n++ {
		if n > 0 {
			sum.Write(append(lines.Bytes(), '\n'))
		}
		var line any
		switch begins := bytes.HasPrefix(lines.Bytes(), []byte(`{"id":`)); {
		case begins:
			all = append(all, &recording{head: mujocoHead{Mujoco: first.Mujoco}})
			line = &all[len(all)-1].head
		case n == 0:
			line = &first
		default:
			last := all[len(all)-1]
			last.runs = append(last.runs, mujocoRun{})
			line = &last.runs[len(last.runs)-1]
		}
		if err := json.Unmarshal(lines.Bytes(), line); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if first.SHA256 == "" {
		first = all[0].head
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != first.SHA256 {
		t.Fatalf("%s: the lines after the first have the hash %s, want %s", name, got, first.SHA256)
	}
	return all
}

// steps compares one environment with its recording and counts.
type steps struct {
	*testing.T
	want Nearness
	look func(envs.Env) Look
	head mujocoHead
	env  envs.Stateful
	obs  []float32

	resets, steps, equal, equalRewards, equalObs, seen, contacts, rows int
	worst                                                              struct{ state, reward, obs, run float64 }
}

func (s *steps) reset(name string, draws, state, obs []float64) {
	s.resets++
	rng := noise.Scripted(draws)
	s.env.Reset(&rng, s.obs)
	if next := rng.Uniform(); !rng.Exhausted() {
		s.Errorf("%s: the next draw is %v, want none left", name, next)
	}
	got := s.env.State()
	for i := range s.head.Nq + 2*s.head.Nv {
		if got[i] != state[i] {
			s.Errorf("%s: state %d is %v, want %v", name, i, got[i], state[i])
		}
	}
	s.near(name+": obs", s.look(s.env).Obs, obs, s.want.Step, &s.worst.obs)
	s.written(name)
}

// written checks that the policy sees the observation, rounded.
func (s *steps) written(name string) {
	s.Helper()
	for i, x := range s.look(s.env).Obs {
		if s.obs[i] != float32(x) {
			s.Errorf("%s: observation %d is %v, want %v", name, i, s.obs[i], float32(x))
		}
	}
}

// run compares each step of a run alone, from the recorded state before it, then all of them in one go.
func (s *steps) run(name string, r *mujocoRun) {
	start, states, actions, obs, rewards := floats(r.Start), floats(r.States), singles(r.Actions), floats(r.Obs), floats(r.Rewards)
	n, nu := len(start), s.head.Nu
	every := len(rewards) * s.head.Obs / len(obs)
	before := start
	for i := range rewards {
		name := fmt.Sprintf("%s step %d", name, i)
		s.begin(name, before)
		act, after := actions[i*nu:(i+1)*nu], states[i*n:(i+1)*n]
		s.steps++
		reward, over := s.env.Step(&noise.Stream{}, act, s.obs)
		if s.near(name, s.env.State()[:n], after, s.want.Step, &s.worst.state) {
			s.equal++
		}
		if s.near(name+": reward", []float64{reward}, rewards[i:i+1], s.want.Step*100, &s.worst.reward) {
			s.equalRewards++
		}
		look := s.look(s.env)
		if look.Contacts != r.Ncon[i] || look.Rows != r.Nefc[i] {
			s.Errorf("%s: %d contacts and %d rows, want %d and %d", name, look.Contacts, look.Rows, r.Ncon[i], r.Nefc[i])
		}
		s.contacts += r.Ncon[i]
		s.rows += r.Nefc[i]
		if over != (r.Terminated[i] == '1') {
			s.Errorf("%s: terminated is %t", name, over)
		}
		if (i+1)%every == 0 {
			k := i / every * s.head.Obs
			s.seen++
			if s.near(name+": obs", look.Obs, obs[k:k+s.head.Obs], s.want.Step*100, &s.worst.obs) {
				s.equalObs++
			}
			s.written(name)
		}
		before = after
	}
	s.begin(name, start)
	for i := range rewards {
		s.env.Step(&noise.Stream{}, actions[i*nu:(i+1)*nu], s.obs)
	}
	s.near(name+" in one go", s.env.State()[:s.head.Nq+s.head.Nv], states[(len(rewards)-1)*n:], max(s.want.Run, 10*r.Jitter), &s.worst.run)
}

// begin sets the recorded part of the state: what is left of the vector are values that no reward reads.
func (s *steps) begin(name string, recorded []float64) {
	s.Helper()
	state := s.env.State()
	copy(state, recorded)
	if err := s.env.SetState(state, s.obs); err != nil {
		s.Fatalf("%s: %v", name, err)
	}
}

// near compares values, and reports whether all are equal to the bit. It keeps the largest error in worst.
func (s *steps) near(name string, got, want []float64, most float64, worst *float64) bool {
	equal := true
	for i, x := range got {
		equal = equal && math.Float64bits(x) == math.Float64bits(want[i])
		d := difference(x, want[i])
		if !(d <= *worst) {
			*worst = d
		}
		if !(d <= most) {
			s.Errorf("%s: value %d is %v, want %v (off by %.3g)", name, i, x, want[i], d)
			return false
		}
	}
	return equal
}

// floats reads little-endian float64 values.
func floats(b []byte) []float64 {
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}

// singles reads little-endian float32 values.
func singles(b []byte) []float64 {
	x := make([]float64, len(b)/4)
	for i := range x {
		x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return x
}
