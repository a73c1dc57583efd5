package mountaincarcontinuous

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	minPosition  = -1.2   // [m]
	maxPosition  = 0.6    // [m]
	maxSpeed     = 0.07   // [m per step]
	goalPosition = 0.45   // [m]
	power        = 0.0015 // [m per step^2] at action 1
	gravity      = 0.0025
	goalReward   = 100.0
	actionCost   = 0.1
	resetLow     = -0.6
	resetHigh    = -0.4
)

// State is the complete state of the environment. After a step both values are float32 values, as Gymnasium
// stores them.
type State struct {
	Position float64 // [m]
	Velocity float64 // [m per step]
	Goal     float64 // the parameter goal_velocity [m per step]
	// Wide says that the values are float64 values, as after Reset. The next step then computes in float64,
	// otherwise only partly so.
	Wide bool
}

// Choose makes s a State of the package's world: there is one, whatever variant is. Bit exact.
func (s *State) Choose(variant int32) { *s = State{} }

// Set gives the parameter goal_velocity the value x, if i is 0. Bit exact.
func (s *State) Set(i int32, x float64) {
	if i == 0 {
		s.Goal = x
	}
}

// Begin starts an episode and writes the first observation to obs. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	s.Reset(rng)
	s.Observe(obs)
}

// Act takes one time step under act, which may hold any values: see [envs.Real], and writes the observation to
// obs. Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	reward, over = s.Step(envs.Real(act[0], -1))
	s.Observe(obs)
	return reward, over
}

// Reset draws the position uniformly from [-0.6, -0.4); the car is at rest. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Position = rng.UniformIn(resetLow, resetHigh)
	s.Velocity = 0
	s.Wide = true
}

// Step takes one time step. The force is the action clipped to [-1, 1]; the cost is that of the unclipped
// action. Bit exact. Gymnasium's Python computes with NumPy scalars, and their promotion rules decide what is
// rounded to float32: a result is float32 if all of its operands are float32 values or Python floats, and a
// Python float is rounded to float32 when combined or compared with a float32 value. narrow tracks this for
// the value it names. The force is a Python float if it was clipped, and otherwise an element of a float64
// array.
//
// Source: Moore, "Efficient memory-based learning for robot control" (1990), as in Gymnasium.
func (s *State) Step(action float64) (reward float64, terminated bool) {
	narrow := !s.Wide // position
	force, clipped := action, false
	if force < -1 {
		force, clipped = -1, true
	}
	if force > 1 {
		force, clipped = 1, true
	}
	angle := round(float64(3*s.Position), narrow)
	v := round(float64(force*power)-float64(gravity*exact.Cos(angle)), narrow && clipped)
	narrowV := narrow && clipped // velocity
	v = round(s.Velocity+v, narrowV)
	goal := round(s.Goal, narrowV)
	if limit := round(maxSpeed, narrowV); v > limit || v < -limit {
		// The speed becomes a Python float, which does not promote anything.
		if v > 0 {
			v = maxSpeed
		} else {
			v = -maxSpeed
		}
		narrowV, goal = true, s.Goal
	}
	narrow = narrow && narrowV
	p := round(s.Position+round(v, narrow), narrow)
	if p > round(maxPosition, narrow) {
		p = maxPosition
	}
	least := round(minPosition, narrow)
	if p < least {
		p = minPosition
	}
	if (p == least || p == minPosition) && v < 0 {
		v = 0
	}
	terminated = p >= round(goalPosition, narrow) && v >= goal
	if terminated {
		reward = goalReward
	}
	reward -= float64(float64(action*action) * actionCost)

	s.Position, s.Velocity, s.Wide = float64(float32(p)), float64(float32(v)), false
	return reward, terminated
}

// round returns x rounded to float32 if narrow, else x.
func round(x float64, narrow bool) float64 {
	if narrow {
		return float64(float32(x))
	}
	return x
}

// Observe writes the state, rounded to float32, to obs (length 2). Bit exact.
func (s *State) Observe(obs []float32) {
	obs[0] = float32(s.Position)
	obs[1] = float32(s.Velocity)
}
