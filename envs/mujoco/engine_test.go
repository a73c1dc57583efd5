package mujoco_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/ant"
	"github.com/evoswarm/evoswarm/envs/mujoco/halfcheetah"
	"github.com/evoswarm/evoswarm/envs/mujoco/hopper"
	"github.com/evoswarm/evoswarm/envs/mujoco/humanoid"
	"github.com/evoswarm/evoswarm/envs/mujoco/inverteddoublependulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/invertedpendulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/reacher"
	"github.com/evoswarm/evoswarm/envs/mujoco/swimmer"
	"github.com/evoswarm/evoswarm/envs/mujoco/walker2d"
	"github.com/evoswarm/evoswarm/testnet/python"
)

// sim is the engine of one world, without its sizes.
type sim struct {
	data interface {
		Init(rules int32)
		Reset(qpos, qvel []float64)
		SetState(qpos, qvel, warmstart []float64)
		Forward(ctrl []float64)
		Step(ctrl []float64)
	}
	qpos, qvel, warmstart, qacc, force []float64
	bad                                *bool
	controls                           int
	free                               bool // qpos begins with a position and a quaternion
}

// sims makes a simulation of each model, and a copy of one by assignment.
var sims = map[string]func() (*sim, func() *sim){
	"InvertedPendulum": func() (*sim, func() *sim) {
		var view func(d *invertedpendulum.Data) *sim
		view = func(d *invertedpendulum.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 1, false}
		}
		d := new(invertedpendulum.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"InvertedDoublePendulum": func() (*sim, func() *sim) {
		var view func(d *inverteddoublependulum.Data) *sim
		view = func(d *inverteddoublependulum.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 1, false}
		}
		d := new(inverteddoublependulum.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Reacher": func() (*sim, func() *sim) {
		var view func(d *reacher.Data) *sim
		view = func(d *reacher.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 2, false}
		}
		d := new(reacher.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Swimmer": func() (*sim, func() *sim) {
		var view func(d *swimmer.Data) *sim
		view = func(d *swimmer.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 2, false}
		}
		d := new(swimmer.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Hopper": func() (*sim, func() *sim) {
		var view func(d *hopper.Data) *sim
		view = func(d *hopper.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 3, false}
		}
		d := new(hopper.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"HalfCheetah": func() (*sim, func() *sim) {
		var view func(d *halfcheetah.Data) *sim
		view = func(d *halfcheetah.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 6, false}
		}
		d := new(halfcheetah.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Walker2d": func() (*sim, func() *sim) {
		var view func(d *walker2d.Data) *sim
		view = func(d *walker2d.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 6, false}
		}
		d := new(walker2d.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Ant": func() (*sim, func() *sim) {
		var view func(d *ant.Data) *sim
		view = func(d *ant.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 8, true}
		}
		d := new(ant.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
	"Humanoid": func() (*sim, func() *sim) {
		var view func(d *humanoid.Data) *sim
		view = func(d *humanoid.Data) *sim {
			return &sim{d, d.Qpos[:], d.Qvel[:], d.QaccWarmstart[:], d.Qacc[:], d.QfrcConstraint[:], &d.Bad, 17, true}
		}
		d := new(humanoid.Data)
		return view(d), func() *sim { c := *d; return view(&c) }
	},
}

func each(t *testing.T, f func(t *testing.T, s *sim, clone func() *sim, r *rand.Rand)) {
	for name, made := range sims {
		t.Run(name, func(t *testing.T) {
			s, clone := made()
			s.data.Init(mujoco.Rules40)
			f(t, s, clone, rand.New(rand.NewPCG(1, uint64(len(name)))))
		})
	}
}

func (s *sim) act(r *rand.Rand, size float64) []float64 {
	ctrl := make([]float64, s.controls)
	for i := range ctrl {
		ctrl[i] = size * (2*r.Float64() - 1)
	}
	return ctrl
}

// draw returns a state about as wild as size.
func (s *sim) draw(r *rand.Rand, size float64) (qpos, qvel []float64) {
	qpos, qvel = make([]float64, len(s.qpos)), make([]float64, len(s.qvel))
	s.data.Init(mujoco.Rules40)
	for i := range qpos {
		qpos[i] = s.qpos[i] + size*r.NormFloat64()
	}
	for i := range qvel {
		qvel[i] = size * r.NormFloat64()
	}
	return qpos, qvel
}

func (s *sim) finite() bool {
	for _, v := range [][]float64{s.qpos, s.qvel, s.warmstart, s.qacc, s.force} {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}

// TestCopies steps a copy and the original: they must agree in every bit, whatever happened before.
func TestCopies(t *testing.T) {
	each(t, func(t *testing.T, s *sim, clone func() *sim, r *rand.Rand) {
		for range 20 {
			s.data.Reset(s.draw(r, 0.1))
			for range r.IntN(30) {
				s.data.Step(s.act(r, 1))
			}
			c := clone()
			for range 10 {
				ctrl := s.act(r, 1)
				s.data.Step(ctrl)
				c.data.Step(ctrl)
			}
			for i, v := range [][]float64{s.qpos, s.qvel, s.warmstart} {
				for k := range v {
					if w := [][]float64{c.qpos, c.qvel, c.warmstart}[i][k]; math.Float64bits(v[k]) != math.Float64bits(w) {
						t.Fatalf("a copy continues with %v, not %v", w, v[k])
					}
				}
			}
		}
	})
}

// TestNothingElse steps from states that were set: what is not part of them, such as earlier contacts, must not matter.
func TestNothingElse(t *testing.T) {
	each(t, func(t *testing.T, s *sim, clone func() *sim, r *rand.Rand) {
		for range 30 {
			s.data.Reset(s.draw(r, 0.3))
			for range 5 {
				s.data.Step(s.act(r, 1))
			}
			if *s.bad {
				continue
			}
			c := clone()
			c.data.Reset(c.draw(r, 1))
			c.data.Step(c.act(r, 1))
			c.data.SetState(s.qpos, s.qvel, s.warmstart)
			ctrl := s.act(r, 1)
			s.data.Step(ctrl)
			c.data.Step(ctrl)
			for k := range s.qvel {
				if s.qvel[k] != c.qvel[k] {
					t.Fatalf("velocity %d is %v after one past and %v after another", k, s.qvel[k], c.qvel[k])
				}
			}
		}
	})
}

// TestWild takes steps from states that no episode reaches: the result is finite, or the state is reported as bad and
// replaced by the initial pose.
func TestWild(t *testing.T) {
	each(t, func(t *testing.T, s *sim, _ func() *sim, r *rand.Rand) {
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e200, 1e11, 1e9, 1e-320, 0}
		reported := 0
		for i := range 3000 {
			qpos, qvel := s.draw(r, math.Pow(10, 8*r.Float64()-4))
			for range i % 3 {
				qpos[r.IntN(len(qpos))] = odd[r.IntN(len(odd))]
				qvel[r.IntN(len(qvel))] = odd[r.IntN(len(odd))]
			}
			if s.free && i%7 == 0 {
				copy(qpos[3:7], []float64{0, 0, 0, 0})
			}
			s.data.Reset(qpos, qvel)
			if !s.finite() {
				t.Fatalf("not finite after a reset to %v, %v", qpos, qvel)
			}
			ctrl := s.act(r, 3)
			if i%5 == 0 {
				ctrl[r.IntN(len(ctrl))] = odd[r.IntN(len(odd))]
			}
			for range 3 {
				s.data.Step(ctrl)
				if !s.finite() {
					t.Fatalf("not finite after a step from %v, %v", qpos, qvel)
				}
				if *s.bad {
					reported++
					s.data.Init(mujoco.Rules40)
					break
				}
			}
		}
		if reported == 0 {
			t.Error("no state was reported as bad")
		}
	})
}

// TestBad reports each value that is not a number or too large, and nothing else.
func TestBad(t *testing.T) {
	each(t, func(t *testing.T, s *sim, _ func() *sim, r *rand.Rand) {
		for i := range len(s.qpos) + len(s.qvel) {
			qpos, qvel := s.draw(r, 0)
			at := append(append([]*float64{}, pointers(qpos)...), pointers(qvel)...)[i]
			for _, x := range []float64{math.NaN(), math.Inf(1), -2e10} {
				*at = x
				if s.data.Reset(qpos, qvel); !*s.bad {
					t.Errorf("value %d may be %v", i, x)
				}
			}
			*at = 0.01
			if s.data.Reset(qpos, qvel); *s.bad {
				t.Errorf("value %d may not be 0.01", i)
			}
		}
	})
}

func pointers(v []float64) (p []*float64) {
	for i := range v {
		p = append(p, &v[i])
	}
	return p
}

// TestNoAllocation holds steps to their memory.
func TestNoAllocation(t *testing.T) {
	each(t, func(t *testing.T, s *sim, _ func() *sim, r *rand.Rand) {
		s.data.Reset(s.draw(r, 0.01))
		ctrl := s.act(r, 1)
		if n := testing.AllocsPerRun(50, func() { s.data.Step(ctrl) }); n > 0 {
			t.Errorf("%v allocations in a step", n)
		}
	})
}

// TestControls checks that controls are clamped, and that one that is no number means none at all.
func TestControls(t *testing.T) {
	each(t, func(t *testing.T, s *sim, clone func() *sim, r *rand.Rand) {
		s.data.Reset(s.draw(r, 0.01))
		big, one := clone(), clone()
		huge, unit := make([]float64, s.controls), make([]float64, s.controls)
		for i := range huge {
			huge[i], unit[i] = 1e6, 3 // beyond every range
		}
		big.data.Step(huge)
		one.data.Step(unit)
		for k := range big.qvel {
			if big.qvel[k] != one.qvel[k] {
				t.Fatal("controls beyond their range differ from each other")
			}
		}
		none, nan := clone(), clone()
		none.data.Step(make([]float64, s.controls))
		unit[0] = math.NaN()
		nan.data.Step(unit)
		for k := range none.qvel {
			if none.qvel[k] != nan.qvel[k] {
				t.Fatal("a control that is not a number is not the same as none")
			}
		}
	})
}

// TestMomentum drops a humanoid that waves its limbs: gravity alone changes its momentum, and nothing its spin.
func TestMomentum(t *testing.T) {
	const gravity, h, steps = 9.81, 0.003, 100
	r := rand.New(rand.NewPCG(7, 8))
	s, _ := sims["Humanoid"]()
	d := s.data.(*humanoid.Data)
	d.Init(mujoco.Rules40)
	qpos, qvel := s.draw(r, 0.05)
	qpos[2] = 50 // above the ground
	d.Reset(qpos, qvel)
	none := make([]float64, s.controls)
	p, l, mass := momentum(d)
	for range steps {
		d.Step(s.act(r, 0.02))
	}
	d.Forward(none)
	q, m, _ := momentum(d)
	if d.Nefc > 0 && d.Ncon > 0 {
		t.Log("limbs touched each other")
	}
	for k := range 3 {
		want := p[k]
		if k == 2 {
			want -= mass * gravity * h * steps
		}
		if math.Abs(q[k]-want) > 1e-5*mass {
			t.Errorf("momentum along axis %d: %v, want %v", k, q[k], want)
		}
		if math.Abs(m[k]-l[k]) > 1e-4*mass {
			t.Errorf("spin about axis %d: %v, was %v", k, m[k], l[k])
		}
	}
}

// momentum returns the momentum of all bodies, their angular momentum about the common mass center, and their mass.
func momentum(d *humanoid.Data) (p, l [3]float64, mass float64) {
	for i := range d.Cinert {
		in, v := d.Cinert[i], d.Cvel[i] // about the mass center of the tree
		mass += in[9]
		w, u := v[:3], v[3:]
		p[0] += in[9]*u[0] + w[1]*in[8] - w[2]*in[7]
		p[1] += in[9]*u[1] + w[2]*in[6] - w[0]*in[8]
		p[2] += in[9]*u[2] + w[0]*in[7] - w[1]*in[6]
		l[0] += in[0]*w[0] + in[3]*w[1] + in[4]*w[2] + in[7]*u[2] - in[8]*u[1]
		l[1] += in[3]*w[0] + in[1]*w[1] + in[5]*w[2] + in[8]*u[0] - in[6]*u[2]
		l[2] += in[4]*w[0] + in[5]*w[1] + in[2]*w[2] + in[6]*u[1] - in[7]*u[0]
	}
	return p, l, mass
}

// TestRest lets every model without controls come to rest: a model whose joints are damped loses its energy.
func TestRest(t *testing.T) {
	for name, speed := range map[string]float64{"HalfCheetah": 1e-2, "Ant": 1e-2, "Swimmer": 2e-2} {
		s, _ := sims[name]()
		s.data.Init(mujoco.Rules40)
		r := rand.New(rand.NewPCG(9, 10))
		qpos, qvel := s.draw(r, 0.05)
		s.data.Reset(qpos, qvel)
		none := make([]float64, s.controls)
		for range 5000 {
			s.data.Step(none)
		}
		for k, v := range s.qvel {
			if math.Abs(v) > speed {
				t.Errorf("%s: velocity %d is %v after a long time", name, k, v)
			}
		}
	}
}

// TestRules steps under each version's rules: margins and rotations must make a difference where they are used.
func TestRules(t *testing.T) {
	for name, differ := range map[string][2]bool{"Ant": {true, true}, "Hopper": {false, true}, "Swimmer": {false, false}} {
		var last [3][]float64
		for rules := range int32(3) {
			s, _ := sims[name]()
			s.data.Init(rules)
			q := append([]float64{}, s.qpos...)
			v := make([]float64, len(s.qvel))
			for i := range v {
				v[i] = 0.5
			}
			s.data.Reset(q, v)
			for range 200 {
				s.data.Step(make([]float64, s.controls))
			}
			last[rules] = append([]float64{}, s.qpos...)
		}
		for i, want := range differ {
			far := 0.0
			for k := range last[0] {
				far = max(far, math.Abs(last[i][k]-last[i+1][k]))
			}
			if (far > 1e-6) != want {
				t.Errorf("%s: rules %d and %d end %g apart, differ: %v", name, i, i+1, far, want)
			}
		}
	}
}

// TestGenerated checks that the engine of every world is what unroll.py makes of models.json. unroll.py needs gofmt.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("traces nine models in Python")
	}
	python.Run(t, "unroll.py", "--check")
}

// TestCompiled checks that the MuJoCo of .ci/requirements.txt compiles the models of models.json. Another one may
// change scores: see Rules in doc.go.
func TestCompiled(t *testing.T) {
	if testing.Short() {
		t.Skip("imports MuJoCo in Python")
	}
	python.Run(t, "compile.py", "--check")
}
