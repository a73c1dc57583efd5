package acrobot

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment: two links of length 1 m, mass 1 kg and moment of inertia 1 kg m^2, their mass
// centers in the middle. The literals are the float64 values of Gymnasium's Python expressions.
const (
	pi         = 3.141592653589793
	halfPi     = 1.5707963267948966
	maxSpeed1  = 12.566370614359172 // 4 pi [rad/s]
	maxSpeed2  = 28.274333882308138 // 9 pi [rad/s]
	weight1    = 14.700000000000001 // (m1 lc1 + m2 l1) g with g = 9.8 m/s^2 [N m]
	weight2    = 4.9                // m2 lc2 g [N m]
	coupling   = 0.5                // m2 l1 lc2 [kg m^2]
	ownInertia = 1.25               // m2 lc2^2 + I2 [kg m^2]
	dt         = 0.2                // one time step [s]
	dtHalf     = 0.1
	dtSixth    = 0.03333333333333333
	resetBound = 0.1
)

// State is the complete state of the environment.
type State struct {
	Theta1    float64 // angle of the first link from hanging, counter-clockwise [rad]
	Theta2    float64 // angle of the second link relative to the first [rad]
	ThetaDot1 float64 // [rad/s]
	ThetaDot2 float64 // [rad/s]
}

// Choose makes s a State of the package's world: there is one, whatever variant is. Bit exact.
func (s *State) Choose(variant int32) { *s = State{} }

// Set gives a parameter a value: there are none, so it changes nothing. Bit exact.
func (s *State) Set(i int32, x float64) {}

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

// Reset draws the four values, each uniform on [-0.1, 0.1) and rounded to float32,
// in the order of the fields. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Theta1 = float64(float32(rng.UniformIn(-resetBound, resetBound)))
	s.Theta2 = float64(float32(rng.UniformIn(-resetBound, resetBound)))
	s.ThetaDot1 = float64(float32(rng.UniformIn(-resetBound, resetBound)))
	s.ThetaDot2 = float64(float32(rng.UniformIn(-resetBound, resetBound)))
}

// Step advances the system by dt with one step of the classical Runge-Kutta method
// under action 0, 1 or 2: a torque of -1, 0 or 1 N m between the links. The reward
// is -1, and 0 if the state reached is terminal. Bit exact.
//
// Source: Sutton and Barto, "Reinforcement Learning" (1998), section 11.3, the
// version called "book" in Gymnasium.
func (s *State) Step(action int32) (reward float64, terminated bool) {
	torque := float64(action - 1)
	var k1, k2, k3, k4, at State
	derive(&k1, s, torque)
	move(&at, s, &k1, dtHalf)
	derive(&k2, &at, torque)
	move(&at, s, &k2, dtHalf)
	derive(&k3, &at, torque)
	move(&at, s, &k3, dt)
	derive(&k4, &at, torque)

	s.Theta1 += combine(k1.Theta1, k2.Theta1, k3.Theta1, k4.Theta1)
	s.Theta2 += combine(k1.Theta2, k2.Theta2, k3.Theta2, k4.Theta2)
	s.ThetaDot1 += combine(k1.ThetaDot1, k2.ThetaDot1, k3.ThetaDot1, k4.ThetaDot1)
	s.ThetaDot2 += combine(k1.ThetaDot2, k2.ThetaDot2, k3.ThetaDot2, k4.ThetaDot2)

	s.Theta1 = wrap(s.Theta1)
	s.Theta2 = wrap(s.Theta2)
	s.ThetaDot1 = bound(s.ThetaDot1, maxSpeed1)
	s.ThetaDot2 = bound(s.ThetaDot2, maxSpeed2)
	if -exact.Cos(s.Theta1)-exact.Cos(s.Theta2+s.Theta1) > 1 {
		return 0, true
	}
	return -1, false
}

// derive writes the time derivative of s under torque to d.
func derive(d, s *State, torque float64) {
	sin2, cos2 := exact.Sincos(s.Theta2)
	square1 := float64(s.ThetaDot1 * s.ThetaDot1)
	square2 := float64(s.ThetaDot2 * s.ThetaDot2)

	d1 := 0.25 + (1.25 + cos2) + 1 + 1
	d2 := 0.25 + float64(coupling*cos2) + 1
	phi2 := float64(weight2 * exact.Cos(s.Theta1+s.Theta2-halfPi))
	phi1 := float64(float64(-coupling*square2)*sin2) -
		float64(float64(s.ThetaDot2*s.ThetaDot1)*sin2) +
		float64(weight1*exact.Cos(s.Theta1-halfPi)) + phi2
	force := torque + float64(d2/d1*phi1) - float64(float64(coupling*square1)*sin2) - phi2

	acc2 := force / (ownInertia - float64(d2*d2)/d1)
	d.Theta1, d.Theta2 = s.ThetaDot1, s.ThetaDot2
	d.ThetaDot1 = -(float64(d2*acc2) + phi1) / d1
	d.ThetaDot2 = acc2
}

// move writes s + h*d to its argument to.
func move(to, s, d *State, h float64) {
	to.Theta1 = s.Theta1 + float64(h*d.Theta1)
	to.Theta2 = s.Theta2 + float64(h*d.Theta2)
	to.ThetaDot1 = s.ThetaDot1 + float64(h*d.ThetaDot1)
	to.ThetaDot2 = s.ThetaDot2 + float64(h*d.ThetaDot2)
}

// combine returns the change of a value in a step: dt times the weighted mean of its four slopes.
func combine(k1, k2, k3, k4 float64) float64 {
	return float64(dtSixth * (k1 + float64(2*k2) + float64(2*k3) + k4))
}

// wrap reduces the angle x to [-pi, pi] by whole turns. One step changes an angle by a few turns at most, far
// less than the bound of the loops.
func wrap(x float64) float64 {
	for i := 0; i < 1024 && x > pi; i++ {
		x -= 2 * pi
	}
	for i := 0; i < 1024 && x < -pi; i++ {
		x += 2 * pi
	}
	return x
}

// bound clamps x to [-most, most].
func bound(x, most float64) float64 {
	if x < -most {
		return -most
	}
	if x > most {
		return most
	}
	return x
}

// Observe writes cosine and sine of both angles and the angular velocities to obs (length 6). Bit exact.
func (s *State) Observe(obs []float32) {
	sin1, cos1 := exact.Sincos(s.Theta1)
	sin2, cos2 := exact.Sincos(s.Theta2)
	obs[0] = float32(cos1)
	obs[1] = float32(sin1)
	obs[2] = float32(cos2)
	obs[3] = float32(sin2)
	obs[4] = float32(s.ThetaDot1)
	obs[5] = float32(s.ThetaDot2)
}
