package invertedpendulum

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	obsDim = 4
	bound  = 3 // of an action
)

// Parameters, in the order of the description.
const (
	resetNoiseScale = iota
	frameSkip
	mujocoRules
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	0.01,           // resetNoiseScale
	2,              // frameSkip
	mujoco.Rules40, // mujocoRules
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

// Begin starts an episode and writes the first observation to obs. It draws a number for each value of qpos, then of
// qvel, uniformly from [-reset_noise_scale, reset_noise_scale). Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	qpos := qpos0
	var qvel [nv]float64
	mujocoenv.Uniform(rng, qpos[:], s.Param[resetNoiseScale])
	mujocoenv.Uniform(rng, qvel[:], s.Param[resetNoiseScale])
	s.Physics.Init(int32(s.Param[mujocoRules]))
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
	angle := s.Physics.Qpos[1]
	if s.Physics.Bad || angle > 0.2 || angle < -0.2 {
		return 0, true
	}
	return 1, false
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
	return [obsDim]float64{s.Physics.Qpos[0], s.Physics.Qpos[1], s.Physics.Qvel[0], s.Physics.Qvel[1]}
}

// Observe writes the observation to obs. Bit exact.
func (s *State) Observe(obs []float32) {
	v := s.view()
	for i := range v {
		obs[i] = float32(v[i])
	}
}
