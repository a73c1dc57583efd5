package bipedalwalker

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Constants of the environment. One meter is 30 pixels of Gymnasium's picture. The literals are the float64
// values of Gymnasium's Python expressions.
const (
	scale      = 30
	stride     = 0.4666666666666667 // from one point of the ground to the next [m]
	points     = 200                // of the ground
	slopes     = points - 1
	grass      = 10
	startPad   = 20
	maxBoxes   = 41 // obstacles: two in ten points, and four that begin near the end
	level      = 3.3333333333333335
	drop       = 1.8666666666666667 // depth of a pit [m]
	friction   = 2.5
	legLength  = 1.1333333333333333
	legDown    = -0.26666666666666666 // the hips are that far above the hull's origin [m]
	startX     = 4.666666666666667
	startY     = 5.6
	finish     = 88.66666666666667
	viewHeight = 13.333333333333334
	fps        = 50
	dt         = 0.02 // [s]
	gravity    = -10  // [m/s^2]
	torque     = 80   // [N m]
	hipSpeed   = 4    // [rad/s]
	kneeSpeed  = 6    // [rad/s]
	effort     = 0.028
	rays       = 10
	cloudDraws = 110
)

// The worlds of this package, for [State.Choose].
const (
	plain = iota
	hardcore
)

// The bodies of the engine's world. Each leg has two.
const (
	hull = iota
	leg1
	lower1
	leg2
	lower2
)

// The sections of the ground.
const (
	onGrass = iota
	onStump
	onStairs
	inPit
	sections
)

// corners has the corners of the hull in pixels.
var corners = [5][2]float64{{-30, 9}, {6, 9}, {34, 1}, {34, -8}, {-30, -8}}

// rayX and rayY are where the rays of the lidar end, seen from the hull [m]: the sine and the cosine of 0,
// 0.15, .., 1.35 times 160/30, as Python has them.
var (
	rayX = [rays]float64{
		0, 0.7970033731925291, 1.5761077688604774, 2.3198161819265612, 3.0114265247735217,
		3.6354067201244487, 4.177743518013244, 4.62625720316809, 4.97087512515854, 5.203857908408848,
	}
	rayY = [rays]float64{
		5.333333333333333, 5.273445748992225, 5.095127942003232, 4.802384545880943, 4.401789946184951,
		3.9023406339937114, 3.31525316411021, 2.6537122554225436, 1.9325746905422592, 1.1680356644962213,
	}
)

// State is the complete state of the environment.
type State struct {
	World    box2d.World
	Contacts [box2d.MaxContacts]box2d.Contact
	Ground   [maxBoxes + slopes]box2d.Fixture // first the obstacles, then the slopes
	Hulls    [maxBoxes]box2d.Hull             // of the obstacles
	Boxes    int32                            // number of obstacles
	Box      [maxBoxes]Obstacle

	Hardcore bool
	Shaping  float64 // potential whose change is the reward
	Started  bool    // Shaping is set
	Fraction [rays]float32
	Fallen   bool
	Arrived  bool
}

// Choose makes s a State of BipedalWalkerHardcore-v3 if variant is 1, else of BipedalWalker-v3. Begin keeps it.
// Bit exact.
func (s *State) Choose(variant int32) { *s = State{Hardcore: variant == hardcore} }

// Set gives a parameter a value: there are none, so it changes nothing. Bit exact.
func (s *State) Set(i int32, x float64) {}

// Begin starts an episode and writes the first observation to obs. Bit exact.
func (s *State) Begin(rng *noise.Stream, obs []float32) {
	s.Reset(rng)
	s.Observe(obs)
}

// Act takes one time step under act, which may hold any values: see [envs.Real]. It writes the observation to
// obs. Bit exact.
func (s *State) Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool) {
	reward, over = s.Step(envs.Real(act[0], -1), envs.Real(act[1], -1), envs.Real(act[2], -1), envs.Real(act[3], -1))
	s.Observe(obs)
	return reward, over
}

// Obstacle is a rectangle on the ground, whose heights are in the order in which Gymnasium draws them [m].
type Obstacle struct{ Left, Right, Y0, Y1 float32 }

// Reset starts an episode: it creates the ground and the walker, pushes the walker, and takes a first step
// without motors. It draws the ground, 110 numbers for clouds that are never shown, and one number for the
// push. Hardcore does not change. Bit exact.
func (s *State) Reset(rng *noise.Stream) {
	s.Shaping, s.Started, s.Fallen, s.Arrived = 0, false, false, false
	var heights [points]float32
	s.roll(rng, &heights)
	for range cloudDraws {
		rng.Uniform()
	}
	s.raise(&heights)
	s.build()
	s.World.Bodies[hull].ApplyForceToCenter(vec(rng.UniformIn(-5, 5), 0))
	s.Step(0, 0, 0, 0)
}

// terrain is the progress of the generation of the ground.
type terrain struct {
	section  int64
	begun    bool  // this is the first point of its section
	left     int64 // points left of it
	y, speed float64
	original float64 // height before the section
	steps    int64   // of stairs
	width    int64   // of one, in points
	rise     int64   // 1 or -1
}

// roll draws obstacles and the heights of the points of the ground [m].
func (s *State) roll(rng *noise.Stream, heights *[points]float32) {
	s.Boxes = 0
	c := terrain{y: level, left: startPad}
	for i := range int64(points) {
		x := float64(float64(i) * stride)
		switch {
		case c.section == onGrass && !c.begun:
			c.meander(rng, i)
		case c.section == inPit && c.begun:
			s.digPit(rng, &c, x)
		case c.section == inPit:
			c.y = c.original
			if c.left > 1 {
				c.y -= drop
			}
		case c.section == onStump && c.begun:
			s.putStump(rng, &c, x)
		case c.section == onStairs && c.begun:
			s.buildStairs(rng, &c, x)
		case c.section == onStairs:
			n := float64(c.steps*c.width-c.left-c.rise) / float64(c.width)
			c.y = c.original + float64(float64(n*float64(c.rise))*stride)
		}
		heights[i] = float32(c.y)
		c.advance(rng, s.Hardcore)
	}
}

// meander moves the height of the grass.
func (c *terrain) meander(rng *noise.Stream, i int64) {
	pull := 0.0
	if c.y < level {
		pull = 0.01
	} else if c.y > level {
		pull = -0.01
	}
	c.speed = float64(0.8*c.speed) + pull
	if i > startPad {
		change := rng.UniformIn(-1, 1) / scale
		c.speed += change
	}
	c.y += c.speed
}

// advance ends the section when its points are used up.
func (c *terrain) advance(rng *noise.Stream, hardcore bool) {
	c.begun = false
	c.left--
	if c.left != 0 {
		return
	}
	c.left = rng.IntN(grass/2, grass)
	c.begun = true
	if c.section == onGrass && hardcore {
		c.section = rng.IntN(onStump, sections)
	} else {
		c.section = onGrass
	}
}

// digPit adds the two walls of a pit.
func (s *State) digPit(rng *noise.Stream, c *terrain, x float64) {
	c.left = rng.IntN(3, 5)
	wide := float64(stride * float64(c.left))
	s.put(x, x+stride, c.y, c.y-drop)
	s.put(x+wide, x+stride+wide, c.y, c.y-drop)
	c.left += 2
	c.original = c.y
}

// putStump adds a block of one or two strides.
func (s *State) putStump(rng *noise.Stream, c *terrain, x float64) {
	c.left = rng.IntN(1, 3)
	size := float64(float64(c.left) * stride)
	s.put(x, x+size, c.y, c.y+size)
}

// buildStairs adds three or four stairs, up or down.
func (s *State) buildStairs(rng *noise.Stream, c *terrain, x float64) {
	c.rise = -1
	if rng.Uniform() > 0.5 {
		c.rise = 1
	}
	c.width = rng.IntN(4, 5)
	c.steps = rng.IntN(3, 5)
	c.original = c.y
	for i := range c.steps {
		left := x + float64(float64(i*c.width)*stride)
		right := x + float64(float64((1+i)*c.width)*stride)
		s.put(left, right, c.y+float64(float64(i*c.rise)*stride), c.y+float64(float64(-1+i*c.rise)*stride))
	}
	c.left = c.steps * c.width
}

// put adds an obstacle between two horizontal positions and two heights.
func (s *State) put(left, right, y0, y1 float64) {
	if s.Boxes == maxBoxes {
		return
	}
	s.Box[s.Boxes] = Obstacle{float32(left), float32(right), float32(y0), float32(y1)}
	s.Boxes++
}

// raise creates the fixtures of the ground from Box and heights.
func (s *State) raise(heights *[points]float32) {
	for i := range s.Boxes {
		b := &s.Box[i]
		corners := [4]box2d.Vec2{{X: b.Left, Y: b.Y0}, {X: b.Right, Y: b.Y0}, {X: b.Right, Y: b.Y1}, {X: b.Left, Y: b.Y1}}
		shape := box2d.Polygon(corners[:])
		s.Ground[i] = box2d.PolygonFixture(&s.Hulls[i], i, &shape, 0)
	}
	for i := range int32(slopes) {
		a := box2d.Vec2{X: float32(float64(float64(i) * stride)), Y: heights[i]}
		b := box2d.Vec2{X: float32(float64(float64(i+1) * stride)), Y: heights[i+1]}
		s.Ground[s.Boxes+i] = box2d.EdgeFixture(a, b, 0)
	}
}

// materials returns that of the ground. Each obstacle and each slope is a body of its own.
func materials() [1]box2d.Material {
	return [1]box2d.Material{{Friction: friction, Filter: box2d.Filter{CategoryBits: 1, MaskBits: box2d.DefaultMask}, Apart: true}}
}

// build resets the engine and creates the walker in it.
func (s *State) build() {
	s.World.Reset(box2d.Vec2{X: 0, Y: gravity})
	var shape [len(corners)]box2d.Vec2
	for i := range shape {
		shape[i] = vec(corners[i][0]/scale, corners[i][1]/scale)
	}
	body := box2d.BodyDef{
		Position: vec(startX, startY),
		Shape:    box2d.Polygon(shape[:]),
		Density:  5, Friction: 0.1,
		Filter: box2d.Filter{CategoryBits: 0x20, MaskBits: 1},
	}
	s.World.CreateBody(&body)
	s.attach(leg1, -1)
	s.attach(leg2, 1)
}

// attach adds a leg of two parts, turned by 0.05 rad to one side, whose upper part becomes body number upper.
func (s *State) attach(upper int32, side float64) {
	part := box2d.BodyDef{
		Position: vec(startX, 5.3),
		Angle:    float32(float64(side * 0.05)),
		Shape:    box2d.Box(float32(float64(0.13333333333333333)), float32(float64(legLength/2))),
		Density:  1, Friction: 0.2,
		Filter: box2d.Filter{CategoryBits: 0x20, MaskBits: 1},
	}
	s.World.CreateBody(&part)
	hip := box2d.RevoluteJointDef{
		BodyA: hull, BodyB: upper,
		LocalAnchorA: vec(0, legDown), LocalAnchorB: vec(0, legLength/2),
		// The default of pybox2d: the current angle, which is 0 at the knee.
		ReferenceAngle: part.Angle,
		LowerAngle:     -0.8, UpperAngle: 1.1,
		MotorSpeed: float32(side), MaxMotorTorque: torque,
	}
	s.World.CreateRevoluteJoint(&hip)

	part.Position = vec(startX, 4.166666666666667)
	part.Shape = box2d.Box(float32(float64(0.10666666666666667)), float32(float64(legLength/2)))
	s.World.CreateBody(&part)
	knee := box2d.RevoluteJointDef{
		BodyA: upper, BodyB: upper + 1,
		LocalAnchorA: vec(0, -legLength/2), LocalAnchorB: vec(0, legLength/2),
		LowerAngle: -1.6, UpperAngle: -0.1,
		MotorSpeed: 1, MaxMotorTorque: torque,
	}
	s.World.CreateRevoluteJoint(&knee)
}

// Step advances the environment by 1/50 s. The actions drive hip and knee of the first leg, then of the
// second. Their sign is the direction of a motor, which aims at full speed; their magnitude, at most 1, is
// the fraction of its torque that it may use. Bit exact.
func (s *State) Step(a, b, c, d float64) (reward float64, terminated bool) {
	s.drive(0, hipSpeed, a)
	s.drive(1, kneeSpeed, b)
	s.drive(2, hipSpeed, c)
	s.drive(3, kneeSpeed, d)
	m := materials()
	s.World.Step(s.Ground[:s.Boxes+slopes], s.Hulls[:], m[:], s.Contacts[:], dt, 180, 60)
	s.scan()

	body := &s.World.Bodies[hull]
	x := float64(body.Position().X)
	shaping := float64(130*x)/scale - float64(5*exact.Abs(float64(body.Angle())))
	if s.Started {
		reward = shaping - s.Shaping
	}
	s.Shaping, s.Started = shaping, true
	reward -= float64(effort * share(a))
	reward -= float64(effort * share(b))
	reward -= float64(effort * share(c))
	reward -= float64(effort * share(d))

	s.Fallen = body.Began || x < 0 || s.World.Overflow()
	s.Arrived = x > finish
	if s.Fallen {
		reward = -100
	}
	return reward, s.Fallen || s.Arrived
}

// drive sets the speed and torque of a motor.
func (s *State) drive(joint int32, speed, action float64) {
	sign := 0.0
	if action > 0 {
		sign = 1
	} else if action < 0 {
		sign = -1
	}
	s.World.SetMotorSpeed(joint, float32(float64(speed*sign)))
	s.World.SetMaxMotorTorque(joint, float32(float64(torque*share(action))))
}

// share returns the magnitude of an action, at most 1.
func share(action float64) float64 { return min(exact.Abs(action), 1) }

// scan casts the rays of the lidar, only at fixtures that can lie under them.
func (s *State) scan() {
	at := s.World.Bodies[hull].Position()
	x, y := float64(at.X), float64(at.Y)
	first := s.Boxes + bound(x/stride-1)
	low, high := s.boxesBetween(at.X, float32(x+rayX[rays-1]))
	for i := range rays {
		end := vec(x+rayX[i], y-rayY[i])
		s.Fraction[i] = 1
		last := s.Boxes + bound(float64(end.X)/stride+2)
		if f, hit := box2d.RayCast(s.Ground[first:last], s.Hulls[:], at, end); hit {
			s.Fraction[i] = f
		}
		if low < high {
			if f, hit := box2d.RayCast(s.Ground[low:high], s.Hulls[:], at, end); hit {
				s.Fraction[i] = min(s.Fraction[i], f)
			}
		}
	}
}

// bound clamps a position on the ground to the index of a slope, or to the one past the last.
func bound(at float64) int32 { return int32(min(max(at, 0), slopes)) }

// boxesBetween returns the range of obstacles that overlap two horizontal positions; obstacles are ordered
// from left to right.
func (s *State) boxesBetween(left, right float32) (low, high int32) {
	for low < s.Boxes && s.Box[low].Right < left {
		low++
	}
	high = low
	for high < s.Boxes && s.Box[high].Left <= right {
		high++
	}
	return low, high
}

// Observe writes the observation to obs (length 24). Bit exact.
func (s *State) Observe(obs []float32) {
	body := &s.World.Bodies[hull]
	v := body.LinearVelocity
	obs[0] = body.Angle()
	obs[1] = float32(float64(2*float64(body.AngularVelocity)) / fps)
	obs[2] = float32(float64(float64(0.3*float64(v.X))*20) / fps)
	obs[3] = float32(float64(float64(0.3*float64(v.Y))*viewHeight) / fps)
	s.observeLeg(obs[4:9], 0, lower1)
	s.observeLeg(obs[9:14], 2, lower2)
	for i := range s.Fraction {
		obs[14+i] = s.Fraction[i]
	}
}

// observeLeg writes the angles and speeds of hip and knee, and whether the leg touches the ground.
func (s *State) observeLeg(obs []float32, hip, lower int32) {
	obs[0] = s.World.JointAngle(hip)
	obs[1] = float32(float64(s.World.JointSpeed(hip)) / hipSpeed)
	obs[2] = float32(float64(s.World.JointAngle(hip+1)) + 1)
	obs[3] = float32(float64(s.World.JointSpeed(hip+1)) / kneeSpeed)
	obs[4] = 0
	if s.World.Bodies[lower].InContact {
		obs[4] = 1
	}
}

// vec rounds two float64 to the engine's float32.
func vec(x, y float64) box2d.Vec2 { return box2d.Vec2{X: float32(x), Y: float32(y)} }
