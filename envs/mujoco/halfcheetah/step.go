package halfcheetah

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	mostObs  = nq + nv // values of the longest observation
	bound    = 1       // of an action
	timestep = 0.01    // of the engine [s]
)

// Parameters, in the order of the description.
const (
	forwardRewardWeight = iota
	ctrlCostWeight
	resetNoiseScale
	excludeCurrentPositions
	frameSkip
	mujocoRules
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	1,              // forwardRewardWeight
	0.1,            // ctrlCostWeight
	0.1,            // resetNoiseScale
	1,              // excludeCurrentPositions
	5,              // frameSkip
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

// Begin starts an episode and writes the first observation to obs. It draws a number for each value of qpos,
// uniformly from [-reset_noise_scale, reset_noise_scale), then a normal one for each of qvel. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	qpos := qpos0
	var qvel [nv]float64
	mujocoenv.Uniform(rng, qpos[:], s.Param[resetNoiseScale])
	mujocoenv.Normal(rng, qvel[:], s.Param[resetNoiseScale])
	s.Physics.Init(int32(s.Param[mujocoRules]))
	s.Physics.Reset(qpos[:], qvel[:])
	s.Observe(obs)
}

// Act takes one time step under act, which may hold any values: see [mujocoenv.Hold]. It writes the observation to obs.
// Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	var ctrl [nu]float64
	mujocoenv.Hold(ctrl[:], act, -bound)
	x := s.Physics.Qpos[0]
	s.run(ctrl[:])
	s.Observe(obs)
	if s.Physics.Bad {
		return 0, true
	}
	velocity := (s.Physics.Qpos[0] - x) / float64(timestep*s.Param[frameSkip])
	reward = float64(s.Param[forwardRewardWeight] * velocity)
	return reward - float64(s.Param[ctrlCostWeight]*mujocoenv.SumSquares(ctrl[:])), false
}

// run takes the steps of the engine that make a step of the environment.
func (s *State) run(ctrl []float64) {
	skip := int32(s.Param[frameSkip])
	for i := int32(0); i < skip; i++ {
		s.Physics.Step(ctrl)
	}
}

// view writes the observation in float64 to v, and returns its length.
func (s *State) view(v *[mostObs]float64) int {
	first := 0
	if s.Param[excludeCurrentPositions] != 0 {
		first = 1
	}
	n := 0
	for i := first; i < nq; i++ {
		v[n] = s.Physics.Qpos[i]
		n++
	}
	for i := range nv {
		v[n] = s.Physics.Qvel[i]
		n++
	}
	return n
}

// Observe writes the observation to obs. Bit exact.
func (s *State) Observe(obs []float32) {
	var v [mostObs]float64
	n := s.view(&v)
	for i := range n {
		obs[i] = float32(v[i])
	}
}
