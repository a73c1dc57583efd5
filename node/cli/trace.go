package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// maxTraceInput bounds each file that env trace reads, in bytes.
const maxTraceInput = 64 << 20

// traceFlags are the flags of env trace.
type traceFlags struct {
	seed, draws, state, actions, wind string
}

func (t *traceFlags) bind(fs *flag.FlagSet) {
	fs.StringVar(&t.seed, "seed", "", "")
	fs.StringVar(&t.draws, "draws", "", "")
	fs.StringVar(&t.state, "state", "", "")
	fs.StringVar(&t.actions, "actions", "", "")
	fs.StringVar(&t.wind, "wind", "", "")
}

func (t *traceFlags) any() bool {
	return t.seed != "" || t.draws != "" || t.state != "" || t.actions != "" || t.wind != ""
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

func (t *traceFlags) run(s *IO, args []string) error {
	id, err := argument(args, "ENV", "evonode env trace CartPole-v1 --seed 7 --actions actions.txt")
	if err != nil {
		return err
	}
	spec, err := findEnv(id)
	if err != nil {
		return err
	}
	if t.actions == "" {
		return usage("missing --actions FILE", "a file with one action per line, or - for standard input")
	}
	env, rng, obs := spec.New(), noise.Stream{}, make([]float32, spec.ObsDim)
	if err := t.blow(env); err != nil {
		return err
	}
	if err := t.start(s, env, &rng, obs); err != nil {
		return err
	}
	acts, err := s.readActions(t.actions, spec)
	if err != nil {
		return err
	}
	return trace(s, env, &rng, obs, acts)
}

// blow sets the wind of --wind, if it was given.
func (t *traceFlags) blow(env envs.Env) error {
	if t.wind == "" {
		return nil
	}
	windy, ok := env.(envs.Windy)
	if !ok {
		return usage("--wind: there is no wind in "+env.Spec().ID, "LunarLander-v3 and LunarLanderContinuous-v3 take it")
	}
	if t.state != "" {
		return usage("--wind goes with --seed or --draws: a state has its own wind", "leave one of --wind and --state out")
	}
	const example = "for example: --wind 15,1.5 (power from 0 to 20, turbulence from 0 to 2)"
	power, turbulence, ok := strings.Cut(t.wind, ",")
	p, err := strconv.ParseFloat(strings.TrimSpace(power), 64)
	if err != nil {
		return usage(fmt.Sprintf("--wind %q", t.wind), example)
	}
	w, err := strconv.ParseFloat(strings.TrimSpace(turbulence), 64)
	if !ok || err != nil {
		return usage(fmt.Sprintf("--wind %q", t.wind), example)
	}
	if err := windy.SetWind(p, w); err != nil {
		return wrong(fmt.Errorf("--wind %s: %w", t.wind, err), example)
	}
	return nil
}

// start brings env to its first state from the one of --seed, --draws and --state that was given.
func (t *traceFlags) start(s *IO, env envs.Env, rng *noise.Stream, obs []float32) error {
	given := 0
	for _, v := range []string{t.seed, t.draws, t.state} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return usage("give one of --seed, --draws and --state", "for example: --seed 7")
	}
	if t.seed != "" {
		seed, err := strconv.ParseUint(t.seed, 0, 64)
		if err != nil {
			return usage(fmt.Sprintf("--seed %q is no integer from 0 to 2^64-1", t.seed), "for example: --seed 7")
		}
		*rng = noise.NewStream(seed, noise.DomainEpisode)
		env.Reset(rng, obs)
		return nil
	}
	if t.draws != "" {
		return t.startDraws(s, env, rng, obs)
	}
	var file struct {
		State []float64 `json:"state"`
	}
	if err := s.readJSON(t.state, &file, `{"state":[...]}`); err != nil {
		return err
	}
	*rng = noise.NewStream(0, noise.DomainEpisode)
	if err := env.SetState(file.State, obs); err != nil {
		return failed(fmt.Errorf("%s: %w", called(t.state), err), "evonode env show "+env.Spec().ID+" --json lists the state and its ranges")
	}
	return nil
}

func (t *traceFlags) startDraws(s *IO, env envs.Env, rng *noise.Stream, obs []float32) error {
	var draws []float64
	if err := s.readJSON(t.draws, &draws, "[0.25, 0.5, ...]"); err != nil {
		return err
	}
	for i, u := range draws {
		if !(u >= 0 && u < 1) {
			return failed(fmt.Errorf("%s: draw %d is %v", called(t.draws), i, u), "draws are numbers from 0 (included) to 1 (excluded)")
		}
	}
	*rng = noise.Scripted(draws)
	env.Reset(rng, obs)
	if rng.Exhausted() {
		return failed(fmt.Errorf("%s: %d draws are not enough for the reset of %s", called(t.draws), len(draws), env.Spec().ID), "give one number per random draw, in Gymnasium's order")
	}
	return nil
}

// trace plays the actions and prints a line each.
func trace(s *IO, env envs.Env, rng *noise.Stream, obs []float32, acts [][]float64) error {
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
			return failed(fmt.Errorf("step %d needs more draws than were given", i+1), "give one number per random draw, in Gymnasium's order")
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
		if line.Terminated || line.Truncated {
			if left := len(acts) - i - 1; left > 0 {
				fmt.Fprintf(s.Err, "evonode: the episode ended after %d steps; %d actions were not used\n", i+1, left)
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
func (s *IO) readActions(name string, spec *envs.Spec) ([][]float64, error) {
	data, err := s.readAll(name)
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
			return nil, failed(fmt.Errorf("%s, line %d: %w", called(name), n+1, err), "each line holds one action: a number, or an array such as [0.5, -1]; evonode env show "+spec.ID+" says which")
		}
		acts = append(acts, act)
	}
	return acts, nil
}

func parseAction(line []byte) ([]float64, error) {
	if line[0] == '[' {
		var act []float64
		if err := json.Unmarshal(line, &act); err != nil {
			return nil, fmt.Errorf("%.60q is no array of numbers", line)
		}
		return act, nil
	}
	x, err := strconv.ParseFloat(string(line), 64)
	if err != nil {
		return nil, fmt.Errorf("%.60q is no number", line)
	}
	return []float64{x}, nil
}

// readJSON fills v from the one JSON value in the named file.
func (s *IO) readJSON(name string, v any, form string) error {
	data, err := s.readAll(name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return failed(fmt.Errorf("%s: %w", called(name), err), "the file has the form "+form)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return failed(fmt.Errorf("%s: more than one JSON value", called(name)), "the file has the form "+form)
	}
	return nil
}

// readAll reads the named file, or standard input for "-", up to maxTraceInput bytes.
func (s *IO) readAll(name string) ([]byte, error) {
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTraceInput+1))
	if err == nil && len(data) > maxTraceInput {
		err = fmt.Errorf("%s: more than %d bytes", called(name), maxTraceInput)
	}
	return data, err
}
