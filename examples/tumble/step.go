package tumble

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/exactmath"
)

// Constants of the environment.
const (
	tau      = 0.02  // one time step [s]
	parts    = 8     // of a time step
	gravity  = 9.81  // [m/s^2]
	radius   = 0.15  // of the staff [m]
	half     = 0.5   // of its axis [m]
	spring   = 900.0 // acceleration per depth in the floor [1/s^2]
	damper   = 6.0   // of that [1/s]
	friction = 3.0   // acceleration per speed along the floor [1/s]
	drag     = 0.6   // of its turning [1/s]
	push     = 12.0  // acceleration at full action [m/s^2]
	inertia  = 0.12  // by the mass [m^2]
)

// vector is x, y, z, z up.
type vector [3]float64

// state is the whole state: one flat value, so that an instance can be copied with =.
type state struct {
	X vector // the middle [m]
	V vector // its velocity [m/s]
	U vector // direction of the axis, of length 1
	W vector // how it turns [rad/s]
}

// reset draws the state from rng and nothing else, so that a seed names an episode.
func (s *state) reset(rng *envs.Stream) {
	s.X = vector{0, 0, rng.UniformIn(0.8, 1.2)}
	s.V = vector{rng.UniformIn(-0.3, 0.3), rng.UniformIn(-0.3, 0.3), 0}
	s.U = vector{rng.UniformIn(-0.5, 0.5), rng.UniformIn(-0.5, 0.5), 1}
	s.U.normalize()
	s.W = vector{rng.UniformIn(-2, 2), rng.UniformIn(-2, 2), 0}
}

// step moves on by tau, while the upper end is pushed to the sides.
func (s *state) step(x, y float64) (reward float64, terminated bool) {
	side := vector{float64(push * min(max(x, -1), 1)), float64(push * min(max(y, -1), 1)), 0}
	for range parts {
		s.move(&side)
	}
	return s.U[2], float64(s.X[0]*s.X[0])+float64(s.X[1]*s.X[1]) > 100
}

// move takes a part of a step.
func (s *state) move(side *vector) {
	const dt = tau / parts
	force := vector{side[0], side[1], -gravity}
	arm := vector{float64(half * s.U[0]), float64(half * s.U[1]), float64(half * s.U[2])}
	torque := cross(&arm, side)
	for end := range 2 {
		if end == 1 {
			arm = vector{-arm[0], -arm[1], -arm[2]}
		}
		depth := radius - s.X[2] - arm[2]
		if depth <= 0 {
			continue
		}
		turn := cross(&s.W, &arm)
		floor := vector{
			-float64(friction * (s.V[0] + turn[0])), -float64(friction * (s.V[1] + turn[1])),
			max(float64(spring*depth)-float64(damper*(s.V[2]+turn[2])), 0),
		}
		add(&force, &floor, 1)
		twist := cross(&arm, &floor)
		add(&torque, &twist, 1)
	}
	add(&s.V, &force, dt)
	add(&s.W, &torque, dt/inertia)
	keep := 1 - float64(drag*dt)
	s.W = vector{float64(keep * s.W[0]), float64(keep * s.W[1]), float64(keep * s.W[2])}
	add(&s.X, &s.V, dt)
	turn := cross(&s.W, &s.U)
	add(&s.U, &turn, dt)
	s.U.normalize()
}

// add adds b times by to a.
func add(a, b *vector, by float64) {
	for i := range a {
		a[i] += float64(by * b[i])
	}
}

func cross(a, b *vector) vector {
	return vector{
		float64(a[1]*b[2]) - float64(a[2]*b[1]), float64(a[2]*b[0]) - float64(a[0]*b[2]), float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}

// normalize gives v the length 1.
func (v *vector) normalize() {
	length := exactmath.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
	for i := range v {
		v[i] /= length
	}
}

// observe writes the observation.
func (s *state) observe(obs []float32) {
	for i := range 3 {
		obs[i], obs[3+i], obs[6+i], obs[9+i] = float32(s.X[i]), float32(s.V[i]), float32(s.U[i]), float32(s.W[i])
	}
}
