// Package envtest holds the tests that every environment passes: the conformance suite, the comparison with
// what Gymnasium did, the golden bits and the benchmark.
//
// On no floor: only tests import it.
//
// The test of an environment is then a few lines:
//
//	func TestConform(t *testing.T) { envtest.Conform(t, Spec, clone) }
//	func TestGolden(t *testing.T)  { envtest.Golden(t, Spec) }
//	func TestOracle(t *testing.T)  { envtest.Oracle(t, Spec, "../../testdata", envtest.Tolerance{...}) }
//	func BenchmarkStep(b *testing.B) { envtest.Bench(b, Spec) }
//
//	func clone(e envs.Env) envs.Env { c := *e.(*env); return &c }
package envtest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Conform runs the conformance suite on an environment: what training needs, and what a Stateful or a Drawer
// must do if it is one. clone returns a copy of an instance, made by assigning its state.
func Conform(t *testing.T, spec *envs.Spec, clone func(envs.Env) envs.Env) {
	t.Run("registered", func(t *testing.T) { testRegistered(t, spec) })
	t.Run("reset", func(t *testing.T) { testReset(t, spec) })
	t.Run("finite", func(t *testing.T) { testFinite(t, spec) })
	t.Run("clone", func(t *testing.T) { testClone(t, spec, clone) })
	t.Run("bad action", func(t *testing.T) { testBadAction(t, spec) })
	t.Run("alloc", func(t *testing.T) { testAlloc(t, spec) })
	if _, ok := spec.New().(envs.Stateful); ok {
		t.Run("state", func(t *testing.T) { testState(t, spec) })
		t.Run("wild state", func(t *testing.T) { testWildState(t, spec) })
		t.Run("bad state", func(t *testing.T) { testBadState(t, spec) })
	}
	if _, ok := spec.New().(envs.Drawer); ok {
		t.Run("draw", func(t *testing.T) { testDraw(t, spec) })
	}
	if len(spec.Params) > 0 {
		t.Run("params", func(t *testing.T) { testParams(t, spec, clone) })
	}
}

// testParams checks that the environment with other parameters is one, too, and that those do not get lost.
func testParams(t *testing.T, spec *envs.Spec, clone func(envs.Env) envs.Env) {
	defaults, other := envs.Params{}, envs.Params{}
	for _, p := range spec.Params {
		defaults[p.Name] = p.Default
		if other[p.Name] = p.Low + float64(0.625*(p.High-p.Low)); p.Kind != envs.RealParam {
			other[p.Name] = p.Low + p.High - p.Default
		}
	}
	if same, err := spec.With(defaults); err != nil || same != spec {
		t.Errorf("with all defaults: %p, %v, want %p", same, err, spec)
	}
	with, err := spec.With(other)
	if err != nil {
		t.Fatal(err)
	}
	testReset(t, with)
	testClone(t, with, clone)
	testAlloc(t, with)
	if _, ok := with.New().(envs.Drawer); ok {
		testDraw(t, with)
	}
	p := newPlayer(with)
	for seed := range uint64(3) {
		p.reset(seed)
		for range 300 {
			p.play(1)
			p.finite(t)
		}
	}
	// A new instance and one that had another state continue with the same bits.
	a, b := newPlayer(with), newPlayer(with)
	a.reset(1)
	b.reset(2)
	if err := b.stateful().SetState(a.state(), b.obs); err != nil {
		t.Fatal(err)
	}
	b.rng, b.chance = a.rng, a.chance
	for range 20 {
		a.play(1)
		b.play(1)
		b.same(t, a)
	}
}

// testRegistered checks that the environment is found and describes itself.
func testRegistered(t *testing.T, spec *envs.Spec) {
	got, err := envs.Find(spec.ID)
	if err != nil || got != spec {
		t.Fatalf("Find(%q) = %v, %v, want the environment's spec", spec.ID, got, err)
	}
	if got := spec.New().Spec(); got != spec {
		t.Errorf("Spec() of an instance is %p, want %p", got, spec)
	}
	for i := range spec.ObsDim {
		if !(spec.ObsLow[i] < spec.ObsHigh[i]) {
			t.Errorf("bounds of observation %d are %v, %v", i, spec.ObsLow[i], spec.ObsHigh[i])
		}
	}
}

// testReset checks that Reset depends on the stream only.
func testReset(t *testing.T, spec *envs.Spec) {
	fresh, used := newPlayer(spec), newPlayer(spec)
	for seed := range uint64(20) {
		used.reset(seed + 100)
		used.play(int(seed))
		used.reset(seed)
		fresh.env = spec.New()
		fresh.reset(seed)
		used.same(t, fresh)
		a, b := used.rng, fresh.rng
		if got, want := a.Uniform(), b.Uniform(); got != want {
			t.Fatalf("seed %d: the stream continues with %v after Reset, want %v", seed, got, want)
		}
		for range 10 {
			used.play(1)
			fresh.play(1)
			used.same(t, fresh)
		}
	}
}

// testFinite checks length, bounds and finiteness over random episodes.
func testFinite(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	for seed := range uint64(10) {
		p.reset(seed)
		for range spec.MaxSteps {
			for i, x := range p.obs[:spec.ObsDim] {
				// One part in a million for bounds that are rounded themselves.
				slack := float64(1e-6 * math.Abs(spec.ObsHigh[i]))
				if math.IsNaN(float64(x)) || float64(x) < spec.ObsLow[i]-slack || float64(x) > spec.ObsHigh[i]+slack {
					t.Fatalf("seed %d: observation %d is %v, not in [%v, %v]", seed, i, x, spec.ObsLow[i], spec.ObsHigh[i])
				}
			}
			if got := p.obs[spec.ObsDim]; got != guard {
				t.Fatalf("seed %d: wrote past the observation", seed)
			}
			if math.IsNaN(p.reward) || math.IsInf(p.reward, 0) {
				t.Fatalf("seed %d: reward is %v", seed, p.reward)
			}
			if p.terminated {
				break
			}
			p.play(1)
		}
	}
}

// testClone checks that a copied instance continues with the same bits, independently of the original.
func testClone(t *testing.T, spec *envs.Spec, clone func(envs.Env) envs.Env) {
	p := newPlayer(spec)
	for seed := range uint64(5) {
		p.reset(seed)
		p.play(int(3 * seed))
		q := p.clone(clone(p.env))
		for range 20 {
			p.play(1)
			q.play(1)
			q.same(t, p)
		}
	}
}

// testState checks that SetState(State()) changes nothing, on a fresh instance too.
func testState(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	for seed := range uint64(5) {
		p.reset(seed)
		for step := range 20 {
			if p.terminated {
				break
			}
			q := p.clone(spec.New())
			if err := q.stateful().SetState(p.state(), q.obs); err != nil {
				t.Fatalf("seed %d step %d: SetState(State()): %v", seed, step, err)
			}
			q.same(t, p)
			p.play(1)
			q.play(1)
			q.same(t, p)
		}
	}
}

// testWildState checks that the environment stays finite from every state that SetState takes, corners
// included, and that it says what is wrong with the others.
func testWildState(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	p.reset(1)
	state := make([]float64, len(spec.State))
	for range 200 {
		for i, v := range spec.State {
			switch p.chance.IntN(0, 4) {
			case 0:
				state[i] = v.Low
			case 1:
				state[i] = v.High
			default:
				state[i] = p.chance.UniformIn(v.Low, v.High)
			}
		}
		if err := p.stateful().SetState(state, p.obs); errors.Is(err, envs.ErrState) {
			continue // such as that of two bodies far apart with a joint between them
		} else if err != nil {
			t.Fatalf("SetState(%v): %v", state, err)
		}
		p.terminated = false
		p.play(1)
		p.finite(t)
	}
}

// testBadState checks that SetState refuses what no state can be, and does not change the instance.
func testBadState(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	p.reset(1)
	good := p.state()
	bad := [][]float64{nil, good[:len(good)-1], append(slices.Clone(good), 0)}
	for i := range good {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 2*spec.State[i].High + 1, 2*spec.State[i].Low - 1} {
			state := slices.Clone(good)
			state[i] = x
			bad = append(bad, state)
		}
	}
	for _, state := range bad {
		if err := p.stateful().SetState(state, p.obs); !errors.Is(err, envs.ErrState) {
			t.Errorf("SetState(%v) = %v, want an error that wraps ErrState", state, err)
		}
		if got := p.state(); !slices.Equal(got, good) {
			t.Fatalf("SetState(%v) changed the state to %v", state, got)
		}
	}
}

// testBadAction checks that actions which CheckAction refuses are harmless.
func testBadAction(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e18} {
		p.reset(1)
		for range 5 {
			for i := range p.act {
				p.act[i] = x
			}
			p.reward, p.terminated = p.env.Step(&p.rng, p.act, p.obs)
			p.finite(t)
		}
	}
}

// testAlloc checks that nothing is allocated in an episode.
func testAlloc(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	seed := uint64(0)
	got := testing.AllocsPerRun(20, func() {
		p.rng = noise.NewStream(seed, noise.DomainEpisode)
		p.env.Reset(&p.rng, p.obs)
		for range 20 {
			p.env.Step(&p.rng, p.act, p.obs)
		}
		seed++
	})
	if got != 0 {
		t.Errorf("an episode allocates %v times, want 0", got)
	}
}
