package ant

import (
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	mostObs  = nq + nv + 6*(nbody-1) // values of the longest observation
	bound    = 1                     // of an action
	timestep = 0.01                  // of the engine [s]
)

// Parameters, in the order of the description.
const (
	forwardRewardWeight = iota
	ctrlCostWeight
	contactCostWeight
	healthyReward
	mainBody
	terminateWhenUnhealthy
	healthyZLow
	healthyZHigh
	contactForceLow
	contactForceHigh
	resetNoiseScale
	excludeCurrentPositions
	includeCfrcExt
	frameSkip
	mujocoRules
	params
)

// defaults are Gymnasium's, in the same order.
var defaults = [params]float64{
	1,              // forwardRewardWeight
	0.5,            // ctrlCostWeight
	5e-4,           // contactCostWeight
	1,              // healthyReward
	bodyTorso,      // mainBody
	1,              // terminateWhenUnhealthy
	0.2,            // healthyZLow
	1,              // healthyZHigh
	-1,             // contactForceLow
	1,              // contactForceHigh
	0.1,            // resetNoiseScale
	1,              // excludeCurrentPositions
	1,              // includeCfrcExt
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
	x := s.mainX()
	s.run(ctrl[:])
	s.Observe(obs)
	if s.Physics.Bad {
		return 0, true
	}
	velocity := (s.mainX() - x) / float64(timestep*s.Param[frameSkip])
	reward = float64(velocity * s.Param[forwardRewardWeight])
	z := s.Physics.Qpos[2]
	healthy := z >= s.Param[healthyZLow] && z <= s.Param[healthyZHigh]
	if healthy {
		reward += s.Param[healthyReward]
	}
	cost := float64(s.Param[ctrlCostWeight] * mujocoenv.SumSquares(ctrl[:]))
	cost += s.contactCost()
	return reward - cost, !healthy && s.Param[terminateWhenUnhealthy] != 0
}

// mainX returns x of the main body in the last evaluation [m].
func (s *State) mainX() float64 { return s.Physics.Xpos[int(s.Param[mainBody])][0] }

// force returns a contact force as the policy sees it.
func (s *State) force(body, i int) float64 {
	return mujocoenv.Clip(s.Physics.CfrcExt[body][i], s.Param[contactForceLow], s.Param[contactForceHigh])
}

// contactCost is the cost of contact forces.
func (s *State) contactCost() float64 {
	var forces [6 * nbody]float64
	for i := range forces {
		forces[i] = s.force(i/6, i%6)
	}
	return float64(s.Param[contactCostWeight] * mujocoenv.SumSquares(forces[:]))
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
	if s.Param[includeCfrcExt] != 0 {
		for i := 6; i < 6*nbody; i++ {
			v[n] = s.force(i/6, i%6)
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
