package cartpole

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment. The literals are the float64 values of Gymnasium's Python expressions.
const (
	gravity        = 9.8                // [m/s^2]
	massPole       = 0.1                // [kg]
	massTotal      = 1.1                // cart and pole [kg]
	halfLength     = 0.5                // half of the pole's length [m]
	poleMassLength = 0.05               // massPole * halfLength [kg m]
	forceMag       = 10.0               // [N]
	tau            = 0.02               // one time step [s]
	fourThirds     = 1.3333333333333333 // of the pole's moment of inertia
	xThreshold     = 2.4                // [m]
	thetaThreshold = 0.20943951023931953
	resetBound     = 0.05
)

// State is the complete state of the environment.
type State struct {
	X        float64 // cart position [m]
	XDot     float64 // cart velocity [m/s]
	Theta    float64 // pole angle from upright, clockwise [rad]
	ThetaDot float64 // [rad/s]
	Sutton   bool    // the parameter sutton_barto_reward
}

// Choose makes s a State of the package's world: there is one, whatever variant is. Bit exact.
func (s *State) Choose(variant int32) { *s = State{} }

// Set gives the parameter the value x: 1 is the reward of Sutton and Barto, if i is 0. Bit exact.
func (s *State) Set(i int32, x float64) {
	if i == 0 {
		s.Sutton = x != 0
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
	reward, over = s.Step(envs.Index(act[0], 2))
	s.Observe(obs)
	return reward, over
}

// Reset draws the four values, each uniform on [-0.05, 0.05), in the order of the fields. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.X = rng.UniformIn(-resetBound, resetBound)
	s.XDot = rng.UniformIn(-resetBound, resetBound)
	s.Theta = rng.UniformIn(-resetBound, resetBound)
	s.ThetaDot = rng.UniformIn(-resetBound, resetBound)
}

// Step advances the system by tau with explicit Euler. Action 1 pushes the cart to the right, any other to
// the left. The reward is 1, even if the state reached is terminal; with Sutton it is 0, and -1 if it is. Bit exact.
//
// Source: Florian, "Correct equations for the dynamics of the cart-pole system"
// (2007), without friction, arranged as in Gymnasium.
func (s *State) Step(action int32) (reward float64, terminated bool) {
	right := int32(0)
	if action == 1 {
		right = 1
	}
	force := float64(float64(right)*(2*forceMag)) - forceMag // without a branch, which would be unpredictable
	sinTheta, cosTheta := exact.Sincos(s.Theta)
	square := float64(s.ThetaDot * s.ThetaDot)

	temp := (force + float64(float64(poleMassLength*square)*sinTheta)) / massTotal
	inertia := float64(halfLength * (fourThirds - float64(massPole*float64(cosTheta*cosTheta))/massTotal))
	thetaAcc := (float64(gravity*sinTheta) - float64(cosTheta*temp)) / inertia
	xAcc := temp - float64(float64(poleMassLength*thetaAcc)*cosTheta)/massTotal

	s.X += float64(tau * s.XDot)
	s.XDot += float64(tau * xAcc)
	s.Theta += float64(tau * s.ThetaDot)
	s.ThetaDot += float64(tau * thetaAcc)

	terminated = s.X < -xThreshold || s.X > xThreshold || s.Theta < -thetaThreshold || s.Theta > thetaThreshold
	if !s.Sutton {
		return 1, terminated
	}
	if terminated {
		return -1, true
	}
	return 0, false
}

// Observe writes the state, rounded to float32, to obs (length 4). Bit exact.
func (s *State) Observe(obs []float32) {
	_ = obs[3]
	obs[0] = float32(s.X)
	obs[1] = float32(s.XDot)
	obs[2] = float32(s.Theta)
	obs[3] = float32(s.ThetaDot)
}
