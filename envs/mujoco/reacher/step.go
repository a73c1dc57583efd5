package reacher

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	obsDim = 10
	bound  = 1 // of an action
)

// Parameters, in the order of the description.
const (
	rewardDistWeight = iota
	rewardControlWeight
	frameSkip
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	1, // rewardDistWeight
	1, // rewardControlWeight
	2, // frameSkip
}

// State is the complete state of the environment.
type State struct {
	Physics Data
	Param   [params]float64
}

// Choose makes s a State of the package's world, with the default parameters: there is one, whatever variant is. Bit
// exact.
func (s *State) Choose(variant int32) {
	*s = State{}
	s.Param = defaults
	s.Physics.Init(mujoco.Rules40)
}

// Set gives parameter number i of the description the value x; other numbers change nothing. Bit exact.
func (s *State) Set(i int32, x float64) {
	if i >= 0 && i < params {
		s.Param[i] = x
	}
}

// Begin starts an episode and writes the first observation to obs. It draws 4 numbers uniformly from [-0.1, 0.1),
// pairs from [-0.2, 0.2) until one is less than 0.2 from the origin, and 4 from [-0.005, 0.005), of which two are not
// used. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	qpos := qpos0
	var qvel [nv]float64
	mujocoenv.Uniform(rng, qpos[:], 0.1)
	x, y := goal(rng)
	qpos[2], qpos[3] = x, y
	mujocoenv.Uniform(rng, qvel[:], 0.005)
	qvel[2], qvel[3] = 0, 0
	s.Physics.Init(mujoco.Rules40)
	s.Physics.Reset(qpos[:], qvel[:])
	s.Observe(obs)
}

// Act takes one time step under act, which may hold any values: see [mujocoenv.Hold]. It writes the observation to obs.
// Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	var ctrl [nu]float64
	mujocoenv.Hold(ctrl[:], act, -bound)
	s.run(ctrl[:])
	s.Observe(obs)
	if s.Physics.Bad {
		return 0, true
	}
	tip, target := &s.Physics.Xpos[bodyFingertip], &s.Physics.Xpos[bodyTarget]
	squares := 0.0
	for i := range tip {
		d := tip[i] - target[i]
		squares += float64(d * d)
	}
	distance := float64(exact.Sqrt(squares) * s.Param[rewardDistWeight])
	return -distance - float64(mujocoenv.SumSquares(ctrl[:])*s.Param[rewardControlWeight]), false
}

// goal draws the place of the target: within 0.2 of the origin. It gives up after a hundred draws, of which each fails
// with a probability of 0.21, so that no stream of numbers keeps it forever.
func goal(rng *noise.Stream) (x, y float64) {
	for range 100 {
		x = rng.UniformIn(-0.2, 0.2)
		y = rng.UniformIn(-0.2, 0.2)
		if exact.Sqrt(float64(x*x)+float64(y*y)) < 0.2 {
			return x, y
		}
	}
	return 0, 0
}

// run takes the steps of the engine that make a step of the environment.
func (s *State) run(ctrl []float64) {
	skip := int32(s.Param[frameSkip])
	for i := int32(0); i < skip; i++ {
		s.Physics.Step(ctrl)
	}
}

// view returns the observation in float64.
func (s *State) view() [obsDim]float64 {
	q, u := &s.Physics.Qpos, &s.Physics.Qvel
	tip, target := &s.Physics.Xpos[bodyFingertip], &s.Physics.Xpos[bodyTarget]
	var v [obsDim]float64
	for i := range 2 {
		v[i] = exact.Cos(q[i])
		v[2+i] = exact.Sin(q[i])
		v[4+i] = q[2+i]
		v[6+i] = u[i]
		v[8+i] = tip[i] - target[i]
	}
	return v
}

// Observe writes the observation to obs. Bit exact.
func (s *State) Observe(obs []float32) {
	v := s.view()
	for i := range v {
		obs[i] = float32(v[i])
	}
}
