package envs

import (
	"errors"
	"fmt"
	"slices"
)

// check says what is missing or contradictory in spec.
func check(spec *Spec) error {
	if err := checkID(spec.ID); err != nil {
		return err
	}
	switch {
	case spec.Revision == 0:
		return errors.New("its Revision is 0, want 1 or more")
	case spec.MaxSteps <= 0:
		return fmt.Errorf("its MaxSteps is %d, want at least 1", spec.MaxSteps)
	case !finite(spec.SolvedReturn):
		return fmt.Errorf("its SolvedReturn is %v, want a finite number", spec.SolvedReturn)
	case spec.New == nil:
		return errors.New("its New is nil, want a constructor")
	}
	if err := checkObsBounds(spec); err != nil {
		return err
	}
	if err := checkSpace(&spec.Action); err != nil {
		return err
	}
	if err := checkParams(spec.Params); err != nil {
		return err
	}
	if spec.base != nil {
		return errors.New("With made it: register the description without parameters")
	}
	if spec.ObsBounds != nil {
		if low, high := spec.ObsBounds(spec.Values()); !slices.Equal(low, spec.ObsLow) || !slices.Equal(high, spec.ObsHigh) {
			return errors.New("its ObsBounds returns others for the defaults than its ObsLow and ObsHigh")
		}
	}
	for i := range spec.State {
		v := &spec.State[i]
		if v.Name == "" || !(v.Low <= v.High) {
			return fmt.Errorf("its State[%d] is %+v, want a name and Low <= High", i, *v)
		}
	}
	return nil
}

// checkID refuses ids that could not be names of files, too.
func checkID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("its ID has %d characters, want 1 to %d", len(id), MaxID)
	}
	for i, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.') {
			return fmt.Errorf("its ID holds %q, want letters, digits, '-', '_' and '.', a letter or digit first", c)
		}
	}
	return nil
}

func checkSpace(a *Space) error {
	if !a.Discrete {
		if a.N != 0 {
			return fmt.Errorf("its Action.N is %d, want 0 for real actions", a.N)
		}
		if a.Dim <= 0 {
			return fmt.Errorf("its Action.Dim is %d, want at least 1", a.Dim)
		}
		return checkBounds("Action.Low", "Action.High", a.Low, a.High, a.Dim)
	}
	if a.N < 2 || a.Dim != 1 || a.Low != nil || a.High != nil {
		return fmt.Errorf("its Action is %+v, want at least 2 discrete actions, Dim 1 and no bounds: see DiscreteSpace", *a)
	}
	return nil
}

// checkObsBounds checks the length and the bounds of observations.
func checkObsBounds(spec *Spec) error {
	if spec.ObsDim <= 0 {
		return fmt.Errorf("its ObsDim is %d, want at least 1", spec.ObsDim)
	}
	return checkBounds("ObsLow", "ObsHigh", spec.ObsLow, spec.ObsHigh, spec.ObsDim)
}

// checkBounds checks the bounds of each of n values. NaN is refused.
func checkBounds(low, high string, lows, highs []float64, n int) error {
	if len(lows) != n || len(highs) != n {
		return fmt.Errorf("%s and %s have %d and %d values, want %d each", low, high, len(lows), len(highs), n)
	}
	for i := range n {
		if !(lows[i] < highs[i]) || !finite(lows[i]) || !finite(highs[i]) {
			return fmt.Errorf("%s[%d] and %s[%d] are %v and %v, want finite ones, the first below the second: Unbounded for none", low, i, high, i, lows[i], highs[i])
		}
	}
	return nil
}

// try says what a new instance does other than spec says, in a first reset and step too. A panic is an error too.
func try(spec *Spec) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a first reset and step panics: %v", p)
		}
	}()
	env := spec.New()
	if env == nil {
		return errors.New("its New returns nil")
	}
	if got := env.Spec(); got != spec {
		return errors.New("its Spec of an instance returns another description than the one registered")
	}
	if _, ok := env.(Parametric); !ok && len(spec.Params) > 0 {
		return fmt.Errorf("it has %d Params, and no SetParam", len(spec.Params))
	}
	if _, ok := env.(Drawer); ok {
		if err := checkView(spec); err != nil {
			return err
		}
	}
	if err := first(spec, env); err != nil {
		return err
	}
	if spec.ObsBounds == nil {
		return nil
	}
	for i := range spec.Params {
		if err := tryLengths(spec, &spec.Params[i]); err != nil {
			return err
		}
	}
	return nil
}

// tryLengths says what is wrong with instances that have another value of p, where that changes the length of an
// observation.
func tryLengths(spec *Spec, p *Param) error {
	for _, x := range []float64{p.Low, p.High} {
		if !p.takes(x) {
			continue
		}
		with, err := spec.With(Params{p.Name: x})
		if err != nil {
			return err
		}
		if with.ObsDim == spec.ObsDim {
			continue
		}
		if err := first(with, with.New()); err != nil {
			return fmt.Errorf("with %s: %w", Label(spec.ID, with.Given()), err)
		}
	}
	return nil
}

// first takes a first reset and step, and says what is wrong with them.
func first(spec *Spec, env Env) error {
	rng, obs, act := NewStream(0), make([]float32, spec.ObsDim), make([]float64, spec.Action.Dim)
	unwritten(obs)
	env.Reset(&rng, obs)
	if err := checkObs("Reset", obs); err != nil {
		return err
	}
	if err := checkValues(spec, env); err != nil {
		return err
	}
	unwritten(obs)
	if reward, _ := env.Step(&rng, act, obs); !finite(reward) {
		return fmt.Errorf("its Step gives a reward of %v", reward)
	}
	return checkObs("Step", obs)
}

// unwritten fills obs with what checkObs refuses, so that it sees what is left out.
func unwritten(obs []float32) {
	none := float32(0)
	none /= none
	for i := range obs {
		obs[i] = none
	}
}

// checkView checks what a Drawer needs.
func checkView(spec *Spec) error {
	if !(spec.View.MinX < spec.View.MaxX && spec.View.MinY < spec.View.MaxY) {
		return fmt.Errorf("it has Draw, and its View is empty: %+v", spec.View)
	}
	if spec.FPS <= 0 {
		return fmt.Errorf("it has Draw, and its FPS is %d, want at least 1", spec.FPS)
	}
	return nil
}

// checkValues compares the description of the state with the state.
func checkValues(spec *Spec, env Env) error {
	stateful, ok := env.(Stateful)
	if !ok {
		if len(spec.State) > 0 {
			return fmt.Errorf("its State describes %d values, and it has no State and SetState", len(spec.State))
		}
		return nil
	}
	if got := len(stateful.State()); got != len(spec.State) {
		return fmt.Errorf("its State returns %d values, the description has %d", got, len(spec.State))
	}
	return nil
}

func checkObs(after string, obs []float32) error {
	for i, x := range obs {
		if x != x {
			return fmt.Errorf("%s writes NaN as observation %d, or does not write it", after, i)
		}
		if !finite(float64(x)) {
			return fmt.Errorf("%s writes %v as observation %d", after, x, i)
		}
	}
	return nil
}
