package hover

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/exactmath"
)

// Constants of the environment.
const (
	tau      = 0.05 // one time step [s]
	lift     = 4.0  // acceleration at full thrust [m/s^2]
	gust     = 0.5  // largest acceleration by wind [m/s^2]
	maxError = 2.0  // farther from the height it is lost [m]
)

// state is the whole state: one flat value, so that an instance can be copied with =.
type state struct {
	X float64 // height above the one to keep [m]
	V float64 // velocity upwards [m/s]
}

// reset draws the state from rng and nothing else, so that a seed names an episode.
func (s *state) reset(rng *envs.Stream) {
	s.X = rng.UniformIn(-1, 1)
	s.V = rng.UniformIn(-0.1, 0.1)
}

// step moves on by tau, with the thrust held to [-1, 1]. Each product that goes into a sum is wrapped in
// float64(...): then no compiler joins the two into one operation with other bits.
func (s *state) step(rng *envs.Stream, thrust float64) (reward float64, terminated bool) {
	thrust = min(max(thrust, -1), 1)
	acceleration := float64(lift*thrust) + rng.UniformIn(-gust, gust)
	s.V += float64(tau * acceleration)
	s.X += float64(tau * s.V)
	reward = 1 - exactmath.Abs(s.X)/maxError - float64(0.01*float64(thrust*thrust))
	return reward, s.X < -maxError || s.X > maxError
}

// observe writes the observation.
func (s *state) observe(obs []float32) {
	obs[0], obs[1] = float32(s.X), float32(s.V)
}
