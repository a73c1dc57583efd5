package envtest

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// guard is the value after the observation, which no environment may overwrite.
const guard = 12345

// player plays an environment with random actions.
type player struct {
	spec       *envs.Spec
	env        envs.Env
	rng        noise.Stream // the environment's
	chance     noise.Stream // the actions'
	obs        []float32    // and a guard
	act        []float64
	reward     float64
	terminated bool
}

// newPlayer returns a player that has to be reset.
func newPlayer(spec *envs.Spec) *player {
	obs := make([]float32, spec.ObsDim, spec.ObsDim+1)
	obs = append(obs, guard)
	return &player{spec: spec, env: spec.New(), obs: obs, act: make([]float64, spec.Action.Dim)}
}

// reset starts the episode named by seed.
func (p *player) reset(seed uint64) {
	p.rng = noise.NewStream(seed, noise.DomainEpisode)
	p.chance = noise.NewStream(seed, noise.DomainInit)
	p.reward, p.terminated = 0, false
	p.env.Reset(&p.rng, p.obs)
}

// play takes n steps with random actions, at most to the end of the episode.
func (p *player) play(n int) {
	for i := 0; i < n && !p.terminated; i++ {
		p.choose()
		p.reward, p.terminated = p.env.Step(&p.rng, p.act, p.obs)
	}
}

// choose draws an action; real ones go beyond their bounds at times.
func (p *player) choose() {
	space := &p.spec.Action
	if space.Discrete {
		p.act[0] = float64(p.chance.IntN(0, int64(space.N)))
		return
	}
	for i := range p.act {
		p.act[i] = p.chance.UniformIn(float64(1.25*space.Low[i]), float64(1.25*space.High[i]))
	}
}

// clone returns a player in the same place with e as its environment.
func (p *player) clone(e envs.Env) *player {
	q := *p
	q.env, q.obs, q.act = e, slices.Clone(p.obs), slices.Clone(p.act)
	return &q
}

// same fails the test unless p and q are in the same place, bit for bit.
func (p *player) same(t *testing.T, q *player) {
	t.Helper()
	for i := range p.obs {
		if math.Float32bits(p.obs[i]) != math.Float32bits(q.obs[i]) {
			t.Fatalf("observation %d is %v, want %v", i, p.obs[i], q.obs[i])
		}
	}
	got, want := p.state(), q.state()
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("state %d is %v, want %v", i, got[i], want[i])
		}
	}
	if math.Float64bits(p.reward) != math.Float64bits(q.reward) || p.terminated != q.terminated {
		t.Fatalf("reward %v, terminated %t, want %v, %t", p.reward, p.terminated, q.reward, q.terminated)
	}
}

// stateful returns the environment as one whose state can be read and set; it panics for others.
func (p *player) stateful() envs.Stateful { return p.env.(envs.Stateful) }

// state returns the state, nil if it cannot be read.
func (p *player) state() []float64 {
	if s, ok := p.env.(envs.Stateful); ok {
		return s.State()
	}
	return nil
}

// finite fails the test if the last step left anything that is not finite.
func (p *player) finite(t *testing.T) {
	t.Helper()
	for i, x := range p.obs[:p.spec.ObsDim] {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatalf("action %v: observation %d is %v", p.act, i, x)
		}
	}
	if math.IsNaN(p.reward) || math.IsInf(p.reward, 0) {
		t.Fatalf("action %v: reward is %v", p.act, p.reward)
	}
	for i, x := range p.state() {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("action %v: state %d is %v", p.act, i, x)
		}
	}
}

// Golden checks the bits of everything that 20 episodes with random actions yield.
func Golden(t *testing.T, spec *envs.Spec) { GoldenOf(t, spec, 20) }

// GoldenOf is Golden with another number of episodes, for environments whose episodes are long.
func GoldenOf(t *testing.T, spec *envs.Spec, episodes int) { goldenOf(t, spec.ID, spec, episodes) }

// GoldenParams is Golden with other parameters, under a name of their own.
func GoldenParams(t *testing.T, spec *envs.Spec, name string, params envs.Params) {
	t.Helper()
	with, err := spec.With(params)
	if err != nil {
		t.Fatal(err)
	}
	goldenOf(t, name, with, 20)
}

func goldenOf(t *testing.T, name string, spec *envs.Spec, episodes int) {
	t.Helper()
	h := sha256.New()
	p := newPlayer(spec)
	var buf []byte
	add := func() {
		buf = buf[:0]
		for _, x := range p.obs[:spec.ObsDim] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		for _, x := range p.state() {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		}
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(p.reward))
		if p.terminated {
			buf = append(buf, 1)
		}
		h.Write(buf)
	}
	for seed := range uint64(episodes) {
		p.reset(seed)
		add()
		for n := 0; n < spec.MaxSteps && !p.terminated; n++ {
			p.play(1)
			add()
		}
	}
	golden.Check(t, name, h.Sum(nil))
}

// Bench measures steps with random actions, resets included. The actions are drawn beforehand.
func Bench(b *testing.B, spec *envs.Spec) {
	p := newPlayer(spec)
	p.reset(0)
	acts := make([][]float64, 1000)
	for i := range acts {
		p.choose()
		acts[i] = slices.Clone(p.act)
	}
	n, seed, at := 0, uint64(1), 0
	b.ReportAllocs()
	for b.Loop() {
		if n == spec.MaxSteps || p.terminated {
			p.reset(seed)
			n = 0
			seed++
		}
		p.reward, p.terminated = p.env.Step(&p.rng, acts[at], p.obs)
		n++
		if at++; at == len(acts) {
			at = 0
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
