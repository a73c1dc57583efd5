package humanoid

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	mostObs  = nq + 2*nv - 6 + 22*(nbody-1) // values of the longest observation
	bound    = 0.4                          // of an action
	timestep = 0.003                        // of the engine [s]
)

// Parameters, in the order of the description.
const (
	forwardRewardWeight = iota
	ctrlCostWeight
	contactCostWeight
	contactCostLow
	contactCostHigh
	healthyReward
	terminateWhenUnhealthy
	healthyZLow
	healthyZHigh
	resetNoiseScale
	excludeCurrentPositions
	includeCinert
	includeCvel
	includeQfrcActuator
	includeCfrcExt
	frameSkip
	mujocoRules
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	1.25,            // forwardRewardWeight
	0.1,             // ctrlCostWeight
	5e-7,            // contactCostWeight
	-envs.Unbounded, // contactCostLow
	10,              // contactCostHigh
	5,               // healthyReward
	1,               // terminateWhenUnhealthy
	1,               // healthyZLow
	2,               // healthyZHigh
	1e-2,            // resetNoiseScale
	1,               // excludeCurrentPositions
	1,               // includeCinert
	1,               // includeCvel
	1,               // includeQfrcActuator
	1,               // includeCfrcExt
	5,               // frameSkip
	mujoco.Rules40,  // mujocoRules
}

// State is the complete state of the environment.
type State struct {
	Physics Data
	Param   [params]float64
	X       float64 // of the mass center in the last evaluation [m]
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
	s.X = s.massCenter()
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
	x := s.massCenter()
	velocity := (x - s.X) / float64(timestep*s.Param[frameSkip])
	s.X = x
	reward = float64(s.Param[forwardRewardWeight] * velocity)
	healthy := mujocoenv.Inside(s.Physics.Qpos[2], s.Param[healthyZLow], s.Param[healthyZHigh])
	if healthy {
		reward += s.Param[healthyReward]
	}
	cost := float64(s.Param[ctrlCostWeight] * mujocoenv.SumSquares(ctrl[:]))
	cost += s.contactCost()
	return reward - cost, !healthy && s.Param[terminateWhenUnhealthy] != 0
}

// massCenter returns x of the mass center in the last evaluation [m].
func (s *State) massCenter() float64 {
	moment, mass := 0.0, 0.0
	for i := range nbody {
		moment += float64(bodyMass[i] * s.Physics.Xipos[i][0])
		mass += bodyMass[i]
	}
	return moment / mass
}

// contactCost is the cost of contact forces.
func (s *State) contactCost() float64 {
	var forces [6 * nbody]float64
	for i := range forces {
		forces[i] = s.Physics.CfrcExt[i/6][i%6]
	}
	cost := float64(s.Param[contactCostWeight] * mujocoenv.SumSquares(forces[:]))
	return mujocoenv.Clip(cost, s.Param[contactCostLow], s.Param[contactCostHigh])
}

// run takes the steps of the engine that make a step of the environment.
func (s *State) run(ctrl []float64) {
	skip := int32(s.Param[frameSkip])
	for i := int32(0); i < skip; i++ {
		s.Physics.Step(ctrl)
	}
	s.Physics.RnePostConstraint()
}

// view writes the observation in float64 to v, and returns its length.
func (s *State) view(v *[mostObs]float64) int {
	first := 0
	if s.Param[excludeCurrentPositions] != 0 {
		first = 2
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
	if s.Param[includeCinert] != 0 {
		for i := 10; i < 10*nbody; i++ {
			v[n] = s.Physics.Cinert[i/10][i%10]
			n++
		}
	}
	if s.Param[includeCvel] != 0 {
		for i := 6; i < 6*nbody; i++ {
			v[n] = s.Physics.Cvel[i/6][i%6]
			n++
		}
	}
	if s.Param[includeQfrcActuator] != 0 {
		for i := 6; i < nv; i++ {
			v[n] = s.Physics.QfrcActuator[i]
			n++
		}
	}
	if s.Param[includeCfrcExt] != 0 {
		for i := 6; i < 6*nbody; i++ {
			v[n] = s.Physics.CfrcExt[i/6][i%6]
			n++
		}
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
