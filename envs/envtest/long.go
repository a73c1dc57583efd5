package envtest

import (
	"errors"
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

var longSteps = flag.Int("envtest.steps", 20_000, "how many random steps the long runs of worlds take")

// Long takes many random steps, resets where episodes end, and checks that everything stays finite and that
// inWorld holds after each step that does not end its episode. -envtest.steps says how many.
func Long(t *testing.T, spec *envs.Spec, inWorld func(envs.Env) bool) {
	p := newPlayer(spec)
	seed, n := uint64(0), spec.MaxSteps
	for step := range *longSteps {
		if p.terminated || n == spec.MaxSteps {
			seed++
			n = 0
			p.reset(seed)
		}
		p.play(1)
		n++
		for i, x := range p.obs[:spec.ObsDim] {
			if x-x != 0 {
				t.Fatalf("seed %d: observation %d is %v", seed, i, x)
			}
		}
		if p.reward-p.reward != 0 {
			t.Fatalf("seed %d: reward is %v", seed, p.reward)
		}
		if !p.terminated && !inWorld(p.env) {
			t.Fatalf("seed %d: out of bounds after %d steps: %v", seed, n, p.state())
		}
		if step%1000 == 0 {
			p.finite(t)
		}
	}
	t.Logf("%s: %d steps, %d episodes", spec.ID, *longSteps, seed)
}

// States checks SetState along whole episodes, with contacts: a fresh instance continues with the same bits
// from any state, and a state with one value changed is either refused with a reason or harmless.
func States(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	refused, taken := 0, 0
	for seed := range uint64(3) {
		p.reset(seed)
		for step := 0; step < min(spec.MaxSteps, 300) && !p.terminated; step++ {
			if step%7 == 0 {
				testSame(t, p)
			}
			if step%3 == 0 {
				if changed(t, p) {
					taken++
				} else {
					refused++
				}
			}
			p.play(1)
		}
	}
	t.Logf("%s: of states with a changed value %d were refused, %d taken", spec.ID, refused, taken)
}

// testSame plays on from a copy of p's state for a while.
func testSame(t *testing.T, p *player) {
	t.Helper()
	original := p.clone(p.spec.New())
	copied := p.clone(p.spec.New())
	state := p.state()
	for _, q := range []*player{original, copied} {
		if err := q.stateful().SetState(state, q.obs); err != nil {
			t.Fatalf("SetState(State()): %v", err)
		}
	}
	copied.same(t, p)
	for range 5 {
		original.play(1)
		copied.play(1)
		copied.same(t, original)
	}
}

// changed sets one value of p's state to another one on a fresh instance, and says whether that was taken.
func changed(t *testing.T, p *player) bool {
	t.Helper()
	state := p.state()
	i := p.chance.IntN(0, int64(len(state)))
	v := p.spec.State[i]
	state[i] = p.chance.UniformIn(v.Low, v.High)
	q := p.clone(p.spec.New())
	if err := q.stateful().SetState(state, q.obs); errors.Is(err, envs.ErrState) {
		return false
	} else if err != nil {
		t.Fatalf("%s = %v: %v", v.Name, state[i], err)
	}
	for range 5 {
		q.terminated = false
		q.play(1)
		q.finite(t)
	}
	return true
}

// FuzzSteps plays an episode whose actions are made of data, and sets a state that data changes.
func FuzzSteps(t *testing.T, spec *envs.Spec, seed uint64, data []byte) {
	p := newPlayer(spec)
	p.reset(seed)
	for i := range min(len(data), 60) {
		for k := range p.act {
			b := data[(i+k)%len(data)]
			p.act[k] = odd(b)
		}
		p.reward, p.terminated = p.env.Step(&p.rng, p.act, p.obs)
		p.finite(t)
	}
	state := p.state()
	for i := 0; i+2 < len(data); i += 3 {
		state[(int(data[i])<<8|int(data[i+1]))%len(state)] = odd(data[i+2])
	}
	before := p.state()
	if err := p.stateful().SetState(state, p.obs); err != nil {
		if !errors.Is(err, envs.ErrState) || !slices.Equal(p.state(), before) {
			t.Fatalf("SetState: %v, want ErrState and the state before", err)
		}
		return
	}
	for range 3 {
		p.play(1)
		p.terminated = false
		p.finite(t)
	}
}

// odd makes a number of a byte: small ones, large ones and none.
func odd(b byte) float64 {
	switch b {
	case 255:
		return math.NaN()
	case 254:
		return math.Inf(1)
	case 253:
		return math.Inf(-1)
	case 252:
		return math.MaxFloat64
	}
	return (float64(b) - 100) / 16
}

// Diverged checks that an episode ends with a reward of 0, and that all that is seen stays finite, at the step after
// diverge has made an instance's physics one that diverged.
func Diverged(t *testing.T, spec *envs.Spec, diverge func(envs.Env)) {
	p := newPlayer(spec)
	p.reset(1)
	p.play(3)
	diverge(p.env)
	p.play(1)
	if !p.terminated || p.reward != 0 {
		t.Errorf("%s: a step after the physics diverged gives a reward of %v, and ends the episode: %t", spec.ID, p.reward, p.terminated)
	}
	p.finite(t)
	p.reset(1)
	if p.play(1); p.terminated {
		t.Errorf("%s: the next episode ends at its first step", spec.ID)
	}
}
