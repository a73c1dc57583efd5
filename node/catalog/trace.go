package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/node/verb"
)

// maxTraceInput bounds each file that env trace reads, in bytes.
const maxTraceInput = 64 << 20

// traceFlags are the flags of env trace.
type traceFlags struct {
	seed, draws, state, actions string
	params                      map[string]string // of the environment
}

func (t *traceFlags) bind(fs *verb.Flags) {
	fs.String(&t.seed, "seed", "N", "draw the start from the noise stream of episode seed N")
	fs.String(&t.draws, "draws", "FILE", "a JSON array of numbers u in [0,1) used instead of noise, one per draw, in Gymnasium's order: "+
		"uniform = low + u (high - low), integer = low + floor(u (high - low))")
	fs.String(&t.state, "state", "FILE", `start from this state: {"state":[...]}, or, in a world of MuJoCo, `+
		`{"qpos":[...],"qvel":[...],"warmstart":[...]}, of which the last may be left out`)
	fs.String(&t.actions, "actions", "FILE", "a number or a JSON array per line")
	t.params = map[string]string{}
	BindParams(fs, t.params, "a parameter of the environment, as show lists them; may be repeated. For show, which then has the length of observations with it, and for trace, where a state brings its own wind")
}

func (t *traceFlags) any() bool {
	return t.seed != "" || t.draws != "" || t.state != "" || t.actions != ""
}

// traceReset is the line of the reset.
type traceReset struct {
	Obs []float64 `json:"obs"`
}

// traceStep is the line of a step.
type traceStep struct {
	Obs        []float64 `json:"obs"`
	Reward     float64   `json:"reward"`
	Terminated bool      `json:"terminated"`
	Truncated  bool      `json:"truncated"`
	State      []float64 `json:"state"`
}

func (t *traceFlags) run(s *verb.IO, args []string) error {
	id, err := verb.Argument(args, "ENV", "evonode env trace CartPole-v1 --seed 7 --actions actions.txt")
	if err != nil {
		return err
	}
	spec, err := Env(id)
	if err != nil {
		return err
	}
	if t.actions == "" {
		return verb.Misused("missing --actions FILE", "a file with one action per line, or - for standard input")
	}
	if spec, err = Adjust(spec, t.params); err != nil {
		return err
	}
	env, err := spec.NewStateful()
	if err != nil {
		return verb.Failed(err, "implement envs.Stateful to trace it; training does without")
	}
	rng, obs := noise.Stream{}, make([]float32, spec.ObsDim)
	if err := t.start(s, env, &rng, obs); err != nil {
		return err
	}
	acts, err := readActions(s, t.actions, spec)
	if err != nil {
		return err
	}
	return trace(s, env, &rng, obs, acts)
}

// start brings env to its first state from the one of --seed, --draws and --state that was given.
func (t *traceFlags) start(s *verb.IO, env envs.Stateful, rng *noise.Stream, obs []float32) error {
	given := 0
	for _, v := range []string{t.seed, t.draws, t.state} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return verb.Misused("give one of --seed, --draws and --state", "for example: --seed 7")
	}
	if t.seed != "" {
		seed, err := strconv.ParseUint(t.seed, 0, 64)
		if err != nil {
			return verb.Misused(fmt.Sprintf("--seed %q is not an integer from 0 to 2^64-1", t.seed), "for example: --seed 7")
		}
		*rng = noise.NewStream(seed, noise.DomainEpisode)
		env.Reset(rng, obs)
		return nil
	}
	if t.draws != "" {
		return t.startDraws(s, env, rng, obs)
	}
	*rng = noise.NewStream(0, noise.DomainEpisode)
	return t.startState(s, env, obs)
}

func (t *traceFlags) startState(s *verb.IO, env envs.Stateful, obs []float32) error {
	var file struct {
		State                 []float64 `json:"state"`
		Qpos, Qvel, Warmstart []float64
	}
	if err := readJSON(s, t.state, &file, `{"state":[...]}`); err != nil {
		return err
	}
	set := func() error { return env.SetState(file.State, obs) }
	if mechanical, ok := env.(envs.Mechanical); ok && file.State == nil {
		set = func() error { return mechanical.SetMotion(file.Qpos, file.Qvel, file.Warmstart, obs) }
	} else if file.Qpos != nil || file.Qvel != nil || file.Warmstart != nil {
		return verb.Failed(fmt.Errorf("%s: qpos, qvel and warmstart are for worlds of MuJoCo, and without state", verb.Called(t.state)), `the file has the form {"state":[...]}`)
	}
	if err := set(); err != nil {
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(t.state), err), "evonode env show "+env.Spec().ID+" --json lists the state and its ranges")
	}
	return nil
}

func (t *traceFlags) startDraws(s *verb.IO, env envs.Env, rng *noise.Stream, obs []float32) error {
	var draws []float64
	if err := readJSON(s, t.draws, &draws, "[0.25, 0.5, ...]"); err != nil {
		return err
	}
	for i, u := range draws {
		if !(u >= 0 && u < 1) {
			return verb.Failed(fmt.Errorf("%s: draw %d is %v", verb.Called(t.draws), i, u), "draws are numbers from 0 (included) to 1 (excluded)")
		}
	}
	*rng = noise.Scripted(draws)
	env.Reset(rng, obs)
	if rng.Exhausted() {
		return verb.Failed(fmt.Errorf("%s: %d draws are not enough for the reset of %s", verb.Called(t.draws), len(draws), env.Spec().ID), "give one number per random draw, in Gymnasium's order")
	}
	return nil
}

// trace plays the actions and prints a line each.
func trace(s *verb.IO, env envs.Stateful, rng *noise.Stream, obs []float32, acts [][]float64) error {
	out := bufio.NewWriter(s.Out)
	enc := json.NewEncoder(out)
	if err := enc.Encode(traceReset{widen(obs)}); err != nil {
		return err
	}
	for i, act := range acts {
		line := traceStep{Truncated: i+1 >= env.Spec().MaxSteps}
		line.Reward, line.Terminated = env.Step(rng, act, obs)
		line.Obs, line.State = widen(obs), env.State()
		if rng.Exhausted() {
			out.Flush()
			return verb.Failed(fmt.Errorf("step %d needs more draws than were given", i+1), "give one number per random draw, in Gymnasium's order")
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
		if line.Terminated || line.Truncated {
			if left := len(acts) - i - 1; left > 0 {
				s.Note("the episode ended after %d steps; %d actions were not used", i+1, left)
			}
			break
		}
	}
	return out.Flush()
}

// widen returns the float32 values as float64, so that JSON holds them exactly as the original's numbers read.
func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// readActions reads one action per line: a number or an array.
func readActions(s *verb.IO, name string, spec *envs.Spec) ([][]float64, error) {
	data, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	var acts [][]float64
	for n, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		act, err := parseAction(line)
		if err == nil {
			err = envs.CheckAction(spec, act)
		}
		if err != nil {
			return nil, verb.Failed(fmt.Errorf("%s, line %d: %w", verb.Called(name), n+1, err), "each line holds one action: a number, or an array such as [0.5, -1]; evonode env show "+spec.ID+" says which")
		}
		acts = append(acts, act)
	}
	return acts, nil
}

func parseAction(line []byte) ([]float64, error) {
	if line[0] == '[' {
		var act []float64
		if err := json.Unmarshal(line, &act); err != nil {
			return nil, fmt.Errorf("%.60q is not an array of numbers", line)
		}
		return act, nil
	}
	x, err := strconv.ParseFloat(string(line), 64)
	if err != nil {
		return nil, fmt.Errorf("%.60q is not a number", line)
	}
	return []float64{x}, nil
}

// readJSON fills v from the one JSON value in the named file.
func readJSON(s *verb.IO, name string, v any, form string) error {
	data, err := readAll(s, name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(name), err), "the file has the form "+form)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return verb.Failed(fmt.Errorf("%s: more than one JSON value", verb.Called(name)), "the file has the form "+form)
	}
	return nil
}

// readAll reads the named file, or standard input for "-", up to maxTraceInput bytes.
func readAll(s *verb.IO, name string) ([]byte, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTraceInput+1))
	if err == nil && len(data) > maxTraceInput {
		err = fmt.Errorf("%s: more than %d bytes", verb.Called(name), maxTraceInput)
	}
	return data, err
}
