package mountaincar

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	minPosition  = -1.2 // [m]
	maxPosition  = 0.6  // [m]
	maxSpeed     = 0.07 // [m per step]
	goalPosition = 0.5  // [m]
	force        = 0.001
	gravity      = 0.0025
	resetLow     = -0.6
	resetHigh    = -0.4
)

// State is the complete state of the environment.
type State struct {
	Position float64 // [m]
	Velocity float64 // [m per step]
	Goal     float64 // the parameter goal_velocity [m per step]
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

// Act takes one time step under act, which may hold any values: see [envs.Index], and writes the observation to
// obs. Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	reward, over = s.Step(envs.Index(act[0], 3))
	s.Observe(obs)
	return reward, over
}

// Reset draws the position uniformly from [-0.6, -0.4); the car is at rest. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Position = rng.UniformIn(resetLow, resetHigh)
	s.Velocity = 0
}

// Step takes one time step with action 0 (push to the left), 1 (do not push) or 2 (push to the right). The
// reward is -1. Bit exact.
//
// Source: Moore, "Efficient memory-based learning for robot control" (1990), in the form of Sutton and Barto,
// "Reinforcement Learning" (1998), example 8.2, as in Gymnasium.
func (s *State) Step(action int32) (reward float64, terminated bool) {
	push := float64(float64(action-1) * force)
	v := s.Velocity + (push + float64(exact.Cos(float64(3*s.Position))*-gravity))
	if v < -maxSpeed {
		v = -maxSpeed
	}
	if v > maxSpeed {
		v = maxSpeed
	}
	p := s.Position + v
	if p < minPosition {
		p = minPosition
	}
	if p > maxPosition {
		p = maxPosition
	}
	if p == minPosition && v < 0 {
		v = 0
	}
	s.Position, s.Velocity = p, v
	return -1, p >= goalPosition && v >= s.Goal
}

// Observe writes the state, rounded to float32, to obs (length 2). Bit exact.
func (s *State) Observe(obs []float32) {
	obs[0] = float32(s.Position)
	obs[1] = float32(s.Velocity)
}
