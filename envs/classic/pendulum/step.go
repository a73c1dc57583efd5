package pendulum

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment.
const (
	pi             = 3.141592653589793
	maxSpeed       = 8.0  // [rad/s]
	maxTorque      = 2.0  // [N m]
	dt             = 0.05 // one time step [s]
	torqueFactor   = 3.0  // 3 / (m l^2) with m = 1 kg [1/(kg m^2)]
	defaultGravity = 10.0 // [m/s^2]
	resetAngle     = pi   // [rad]
	resetSpeed     = 1.0  // [rad/s]
)

// State is the complete state of the environment.
type State struct {
	Theta    float64 // angle from upright, counter-clockwise, not wrapped [rad]
	ThetaDot float64 // [rad/s]
	Gravity  float64 // the parameter g [m/s^2]
}

// Choose makes s a State of the package's world: there is one, whatever variant is. Bit exact.
func (s *State) Choose(variant int32) { *s = State{Gravity: defaultGravity} }

// Set gives the parameter g the value x, if i is 0. Bit exact.
func (s *State) Set(i int32, x float64) {
	if i == 0 {
		s.Gravity = x
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
	reward, over = s.Step(envs.Real(act[0], -maxTorque))
	s.Observe(obs)
	return reward, over
}

// Reset draws the angle uniformly from [-pi, pi), then the angular velocity from [-1, 1). Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Theta = rng.UniformIn(-resetAngle, resetAngle)
	s.ThetaDot = rng.UniformIn(-resetSpeed, resetSpeed)
}

// Step advances the system by dt with semi-implicit Euler under a torque [N m], which is clipped to [-2, 2]
// first. The reward is that of the state before the step. No state is terminal. Bit exact.
//
// Source: the equation of motion of a rod that turns about its end, as in Gymnasium.
func (s *State) Step(torque float64) (reward float64, terminated bool) {
	u := torque
	if u < -maxTorque {
		u = -maxTorque
	}
	if u > maxTorque {
		u = maxTorque
	}
	angle := normalize(s.Theta)
	cost := float64(angle*angle) + float64(0.1*float64(s.ThetaDot*s.ThetaDot)) + float64(0.001*float64(u*u))

	pull := float64(3*s.Gravity) / 2 // 3 g / (2 l) with l = 1 m [1/s^2]
	acc := float64(pull*exact.Sin(s.Theta)) + float64(torqueFactor*u)
	v := s.ThetaDot + float64(acc*dt)
	if v < -maxSpeed {
		v = -maxSpeed
	}
	if v > maxSpeed {
		v = maxSpeed
	}
	s.Theta += float64(v * dt)
	s.ThetaDot = v
	return -cost, false
}

// normalize reduces the angle x to [-pi, pi).
func normalize(x float64) float64 {
	r := remainder(x+pi, 2*pi)
	if r < 0 {
		r += 2 * pi
	}
	return r - pi
}

// remainder returns x - n*m without rounding, where the integer n is such that the result has the sign of x
// and a magnitude below m. |x/m| must be below 2^64 and m positive.
func remainder(x, m float64) float64 {
	r := exact.Abs(x)
	t, doublings := m, 0
	for doublings < 64 && t <= r {
		t += t
		doublings++
	}
	// Here r < t, and in the loop r < 2t, so that r - t is exact.
	for ; doublings > 0; doublings-- {
		t = float64(0.5 * t)
		if r >= t {
			r -= t
		}
	}
	if x < 0 {
		return -r
	}
	return r
}

// Observe writes cosine and sine of the angle and the angular velocity to obs (length 3). Bit exact.
func (s *State) Observe(obs []float32) {
	sin, cos := exact.Sincos(s.Theta)
	obs[0] = float32(cos)
	obs[1] = float32(sin)
	obs[2] = float32(s.ThetaDot)
}
