package lunarlander

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment. One meter is 30 pixels of Gymnasium's picture of 600 x 400. The literals are
// the float64 values of Gymnasium's Python expressions.
const (
	scale        = 30
	width        = 20                 // of the world [m]
	height       = 13.333333333333334 // of the world, and where the lander starts [m]
	halfWidth    = 10
	halfHeight   = 6.666666666666667
	padHeight    = 3.3333333333333335
	legDown      = 0.6 // from the lander's center to the leg's [m]
	chunks       = 11  // points of the ground
	fps          = 50
	dt           = 0.02 // [s]
	mainPower    = 13
	sidePower    = 0.6
	mainY        = 0.13333333333333333 // 4 / 30: where the main engine is
	initialForce = 1000                // [N]
	windPeriod   = 0.031415926535897934
	windIndex    = 9999
	maxPairs     = 3 * chunks // contacts: of each body with the floor and each slope
)

// The parameters, as [State.Set] counts them, and their defaults.
const (
	paramGravity = iota
	paramWindy
	paramWind
	paramSwirl

	defaultGravity = -10 // [m/s^2]
	defaultWind    = 15  // [N]
	defaultSwirl   = 1.5 // [N m]
)

// The worlds of this package, for [State.Choose].
const (
	discrete = iota
	continuous
)

// The bodies of the engine's world.
const (
	lander = iota
	leftLeg
	rightLeg
)

// hull has the corners of the lander in pixels.
var hull = [6][2]float64{{-14, 17}, {-17, 0}, {-17, -10}, {17, -10}, {17, 0}, {14, 17}}

// State is the complete state of the environment.
type State struct {
	World    box2d.World
	Contacts [maxPairs]box2d.Contact
	Ground   [chunks]box2d.Fixture // the flat floor and ten slopes
	Height   [chunks]float64       // of the ground at x = 0, 2, .., 20 [m]

	Continuous bool // actions, set by Choose
	Windy      bool // a parameter
	Started    bool // Shaping is set
	Crashed    bool
	Sleeping   bool

	Gravity float64 // a parameter [m/s^2]
	Shaping float64 // potential whose change is the reward
	Main    float64 // throttle of the main engine in the last step, 0 to 1
	Side    float64 // the same of the side engines, negative for the left one
	Wind    float64 // a parameter: largest force of the wind [N]
	Swirl   float64 // a parameter: largest torque of the turbulence [N m]
	WindAt  int64   // indices into their sequences
	SwirlAt int64
}

// Choose makes s a State of LunarLanderContinuous-v3 if variant is 1, else of LunarLander-v3, with the default
// parameters. Begin keeps them. Bit exact.
func (s *State) Choose(variant int32) {
	*s = State{Continuous: variant == continuous, Gravity: defaultGravity, Wind: defaultWind, Swirl: defaultSwirl}
}

// Set gives parameter number i of the description the value x; other numbers change nothing. Bit exact.
func (s *State) Set(i int32, x float64) {
	switch i {
	case paramGravity:
		s.Gravity = x
	case paramWindy:
		s.Windy = x != 0
	case paramWind:
		s.Wind = x
	case paramSwirl:
		s.Swirl = x
	}
}

// Begin starts an episode and writes the first observation to obs. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	s.Reset(rng)
	s.Observe(obs)
}

// Act takes one time step under act, which may hold any values: see [envs.Index] and [envs.Real]. It writes the
// observation to obs. Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	var main, side, direction float64
	if s.Continuous {
		main, side, direction = Continuous(envs.Real(act[0], -1), envs.Real(act[1], -1))
	} else {
		main, side, direction = Discrete(envs.Index(act[0], 4))
	}
	reward, over = s.Step(rng, main, side, direction)
	s.Observe(obs)
	return reward, over
}

// Reset starts an episode: it creates the ground, the lander and its legs, pushes the lander, and takes a
// first step without engines. It draws 12 uniform numbers for the ground, 2 for the push, 2 integers if there
// is wind, and the 2 of a step. Parameters do not change. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Shaping, s.Started, s.Main, s.Side = 0, false, 0, 0
	s.WindAt, s.SwirlAt = 0, 0
	s.Crashed, s.Sleeping = false, false
	var h [chunks + 1]float64
	for i := range h {
		h[i] = rng.UniformIn(0, halfHeight)
	}
	for i := chunks/2 - 2; i <= chunks/2+2; i++ {
		h[i] = padHeight
	}
	for i := range s.Height {
		// The point before the first is the last one drawn.
		s.Height[i] = float64(0.33 * (h[(i+chunks)%(chunks+1)] + h[i] + h[i+1]))
	}
	s.raise()
	s.build()
	fx := rng.UniformIn(-initialForce, initialForce)
	fy := rng.UniformIn(-initialForce, initialForce)
	s.World.Bodies[lander].ApplyForceToCenter(vec(fx, fy))
	if s.Windy {
		s.WindAt = rng.IntN(-windIndex, windIndex)
		s.SwirlAt = rng.IntN(-windIndex, windIndex)
	}
	s.Step(rng, 0, 0, 0)
}

// raise creates the fixtures of the ground from Height.
func (s *State) raise() {
	s.Ground[0] = box2d.EdgeFixture(vec(0, 0), vec(width, 0), 0)
	for i := 1; i < chunks; i++ {
		x := float64(2 * (i - 1))
		s.Ground[i] = box2d.EdgeFixture(vec(x, s.Height[i-1]), vec(x+2, s.Height[i]), 1)
	}
}

// materials returns those of the floor and of the slopes.
func materials() [2]box2d.Material {
	filter := box2d.Filter{CategoryBits: 1, MaskBits: box2d.DefaultMask}
	return [2]box2d.Material{{Friction: 0.2, Filter: filter}, {Friction: 0.1, Filter: filter}}
}

// build resets the engine and creates the lander in it.
func (s *State) build() {
	s.World.Reset(box2d.Vec2{X: 0, Y: float32(s.Gravity)})
	var corners [len(hull)]box2d.Vec2
	for i := range corners {
		corners[i] = vec(hull[i][0]/scale, hull[i][1]/scale)
	}
	body := box2d.BodyDef{
		Position: vec(halfWidth, height),
		Shape:    box2d.Polygon(corners[:]),
		Density:  5, Friction: 0.1,
		Filter: box2d.Filter{CategoryBits: 0x10, MaskBits: 1},
	}
	s.World.CreateBody(&body)
	for i := -1.0; i <= 1; i += 2 {
		leg := box2d.BodyDef{
			Position: vec(halfWidth-float64(i*20)/scale, height),
			Angle:    float32(float64(i * 0.05)),
			Shape:    box2d.Box(float32(float64(2.0/scale)), float32(float64(8.0/scale))),
			Density:  1, Friction: 0.2,
			Filter: box2d.Filter{CategoryBits: 0x20, MaskBits: 1},
		}
		index := s.World.CreateBody(&leg)
		joint := box2d.RevoluteJointDef{
			BodyA: lander, BodyB: index,
			LocalAnchorB: vec(float64(i*20)/scale, legDown),
			// The default of pybox2d: the current angle.
			ReferenceAngle: leg.Angle,
			LowerAngle:     0.4, UpperAngle: 0.9,
			MotorSpeed: float32(float64(0.3 * i)), MaxMotorTorque: 40,
		}
		if i > 0 {
			joint.LowerAngle, joint.UpperAngle = -0.9, -0.4
		}
		s.World.CreateRevoluteJoint(&joint)
	}
}

// Discrete maps the actions 0 to 3 (none, left, main, right engine) to the throttles of the main and the side
// engines and the direction of the latter.
func Discrete(action int32) (main, side, direction float64) {
	switch action {
	case 1:
		return 0, 1, -1
	case 2:
		return 1, 0, 0
	case 3:
		return 0, 1, 1
	}
	return 0, 0, 0
}

// Continuous does the same for two real numbers, clamped to [-1, 1]: the main engine runs above 0, at half
// power or more; the left one below -0.5, the right one above 0.5.
func Continuous(a, b float64) (main, side, direction float64) {
	a, b = min(max(a, -1), 1), min(max(b, -1), 1)
	if a > 0 {
		main = float64((a + 1) * 0.5)
	}
	if b > 0.5 {
		return main, b, 1
	}
	if b < -0.5 {
		return main, -b, -1
	}
	return main, 0, 0
}

// Step advances the environment by 1/50 s with the throttles of [Discrete] or [Continuous]. It draws 2 uniform
// numbers. Bit exact.
func (s *State) Step(rng *noise.Stream, main, side, direction float64) (reward float64, terminated bool) {
	if s.Windy && !s.World.Bodies[leftLeg].InContact && !s.World.Bodies[rightLeg].InContact {
		s.blow()
	}
	d0 := rng.UniformIn(-1, 1) / scale
	d1 := rng.UniformIn(-1, 1) / scale
	if main > 0 || side > 0 {
		s.thrust(main, side, direction, d0, d1)
	}
	s.Main, s.Side = main, float64(side*direction)
	m := materials()
	var none [1]box2d.Hull // there are no polygons
	s.World.Step(s.Ground[:], none[:], m[:], s.Contacts[:], dt, 180, 60)
	return s.judge(main, side)
}

// blow applies wind and turbulence, which follow tanh(sin(2 k i) + sin(pi k i)) with k = 0.01.
func (s *State) blow() {
	body := &s.World.Bodies[lander]
	body.ApplyForceToCenter(vec(float64(gust(s.WindAt)*s.Wind), 0))
	body.ApplyTorque(float32(float64(gust(s.SwirlAt) * s.Swirl)))
	s.WindAt++
	s.SwirlAt++
}

func gust(at int64) float64 {
	return exact.Tanh(exact.Sin(float64(0.02*float64(at))) + exact.Sin(float64(windPeriod*float64(at))))
}

// thrust applies the impulses of the engines, scattered by d0 and d1. As in Gymnasium the side engines are 17
// pixels away from the center's axis but 14 above, so that their torque depends on the angle.
func (s *State) thrust(main, side, direction, d0, d1 float64) {
	body := &s.World.Bodies[lander]
	tipX, tipY := exact.Sincos(float64(body.Angle()))
	sideX, sideY := -tipY, tipX
	at := body.Position()
	x, y := float64(at.X), float64(at.Y)
	if main > 0 {
		along := mainY + float64(2*d0)
		ox := float64(tipX*along) + float64(sideX*d1)
		oy := float64(-tipY*along) - float64(sideY*d1)
		impulse := vec(float64(float64(-ox*mainPower)*main), float64(float64(-oy*mainPower)*main))
		body.ApplyLinearImpulse(impulse, vec(x+ox, y+oy))
	}
	if side > 0 {
		across := float64(3*d1) + float64(direction*12)/scale
		ox := float64(tipX*d0) + float64(sideX*across)
		oy := float64(-tipY*d0) - float64(sideY*across)
		impulse := vec(float64(float64(-ox*sidePower)*side), float64(float64(-oy*sidePower)*side))
		body.ApplyLinearImpulse(impulse, vec(x+ox-float64(tipX*17)/scale, y+oy+float64(tipY*14)/scale))
	}
}

// judge returns the reward for a step with these throttles, and whether the episode ends.
func (s *State) judge(main, side float64) (reward float64, terminated bool) {
	v := s.view()
	shaping := float64(-100*exact.Sqrt(float64(v[0]*v[0])+float64(v[1]*v[1]))) -
		float64(100*exact.Sqrt(float64(v[2]*v[2])+float64(v[3]*v[3]))) -
		float64(100*exact.Abs(v[4])) + float64(10*v[6]) + float64(10*v[7])
	if s.Started {
		reward = shaping - s.Shaping
	}
	s.Shaping, s.Started = shaping, true
	reward -= float64(main * 0.3)
	reward -= float64(side * 0.03)

	s.Crashed = s.World.Bodies[lander].Began || exact.Abs(v[0]) >= 1 || s.World.Overflow()
	s.Sleeping = !s.World.Bodies[lander].Awake()
	if s.Sleeping {
		return 100, true
	}
	if s.Crashed {
		return -100, true
	}
	return reward, false
}

// view returns the observation in float64.
func (s *State) view() [8]float64 {
	body := &s.World.Bodies[lander]
	at, v := body.Position(), body.LinearVelocity
	return [8]float64{
		(float64(at.X) - halfWidth) / halfWidth,
		(float64(at.Y) - (padHeight + legDown)) / halfHeight,
		float64(float64(v.X)*halfWidth) / fps,
		float64(float64(v.Y)*halfHeight) / fps,
		float64(body.Angle()),
		float64(20*float64(body.AngularVelocity)) / fps,
		flag(s.World.Bodies[leftLeg].InContact),
		flag(s.World.Bodies[rightLeg].InContact),
	}
}

// Observe writes the observation to obs (length 8). Bit exact.
func (s *State) Observe(obs []float32) {
	v := s.view()
	for i := range v {
		obs[i] = float32(v[i])
	}
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// vec rounds two float64 to the engine's float32.
func vec(x, y float64) box2d.Vec2 { return box2d.Vec2{X: float32(x), Y: float32(y)} }
