package inverteddoublependulum

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	obsDim = 9
	bound  = 1 // of an action
)

// Parameters, in the order of the description.
const (
	healthyReward = iota
	resetNoiseScale
	frameSkip
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	10,  // healthyReward
	0.1, // resetNoiseScale
	5,   // frameSkip
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

// Begin starts an episode and writes the first observation to obs. It draws a number for each value of qpos,
// uniformly from [-reset_noise_scale, reset_noise_scale), then a normal one for each of qvel. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	qpos := qpos0
	var qvel [nv]float64
	mujocoenv.Uniform(rng, qpos[:], s.Param[resetNoiseScale])
	mujocoenv.Normal(rng, qvel[:], s.Param[resetNoiseScale])
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
	x, y := s.Physics.SiteXpos[siteTip][0], s.Physics.SiteXpos[siteTip][2]
	v1, v2 := s.Physics.Qvel[1], s.Physics.Qvel[2]
	distance := float64(0.01*float64(x*x)) + float64((y-2)*(y-2))
	speed := float64(1e-3*float64(v1*v1)) + float64(5e-3*float64(v2*v2))
	over = y <= 1
	if !over {
		reward = s.Param[healthyReward]
	}
	return reward - distance - speed, over
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
	var v [obsDim]float64
	v[0] = q[0]
	for i := range 2 {
		v[1+i] = exact.Sin(q[1+i])
		v[3+i] = exact.Cos(q[1+i])
	}
	for i := range nv {
		v[5+i] = mujocoenv.Clip(u[i], -10, 10)
	}
	v[8] = mujocoenv.Clip(s.Physics.QfrcConstraint[0], -10, 10)
	return v
}

// Observe writes the observation to obs. Bit exact.
func (s *State) Observe(obs []float32) {
	v := s.view()
	for i := range v {
		obs[i] = float32(v[i])
	}
}
