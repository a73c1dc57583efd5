package box2d

// BodyDef describes a dynamic body and its one fixture.
type BodyDef struct {
	Position    Vec2    // of the body's origin in the world [m]
	Angle       float32 // [rad]
	Shape       PolygonShape
	Density     float32 // positive [kg/m^2]
	Friction    float32
	Restitution float32
	Filter      Filter
}

// Body is a dynamic body. Its exported fields may be read and written between steps.
type Body struct {
	LinearVelocity  Vec2    // of the center of mass [m/s]
	AngularVelocity float32 // [rad/s]

	// InContact is set by each BeginContact and cleared by each EndContact of the body, in the order of the
	// reference, even if another contact persists: what a listener with one flag per body sees.
	InContact bool

	// Began is set by the first BeginContact and never cleared.
	Began bool

	awake bool
	moved bool // the broad phase must check for new pairs

	xf          transform
	localCenter Vec2    // center of mass in the body's frame
	c0, c       Vec2    // center of mass at the time alpha0, and now
	a0, a       float32 // angles
	alpha0      float32 // fraction of the step, in [0, 1)

	force     Vec2
	torque    float32
	invMass   float32
	invI      float32 // of the inertia about the center of mass
	sleepTime float32

	friction    float32
	restitution float32
	filter      Filter
	fat         aabb // fattened box in the broad phase
	shape       PolygonShape
}

func (b *Body) create(def *BodyDef) {
	*b = Body{}
	b.awake = true
	b.moved = true
	b.friction = def.Friction
	b.restitution = def.Restitution
	b.filter = def.Filter
	b.shape = def.Shape
	b.xf = transform{def.Position, makeRot(def.Angle)}
	b.a0, b.a = def.Angle, def.Angle
	b.fat = fatten(b.shape.box(b.xf))
	b.resetMassData(def.Density)
}

func (b *Body) resetMassData(density float32) {
	mass, center, inertia := b.shape.massData(density)
	b.invMass = 1 / mass
	b.localCenter = scale(b.invMass, scale(mass, center))
	b.invI = 1 / (inertia - float32(mass*dot(b.localCenter, b.localCenter)))
	b.c = mul(b.xf, b.localCenter)
	b.c0 = b.c
}

// Position returns the position of the body's origin [m].
func (b *Body) Position() Vec2 { return b.xf.p }

// Angle returns the angle of the body [rad], not wrapped.
func (b *Body) Angle() float32 { return b.a }

// Awake reports whether the body takes part in the simulation.
func (b *Body) Awake() bool { return b.awake }

// WorldCenter returns the position of the center of mass [m].
func (b *Body) WorldCenter() Vec2 { return b.c }

// WorldPoint converts a point from the body's frame to world coordinates.
func (b *Body) WorldPoint(local Vec2) Vec2 { return mul(b.xf, local) }

// VertexCount returns the number of vertices of the body's polygon.
func (b *Body) VertexCount() int32 { return b.shape.count }

// Vertex returns vertex i of the body's polygon in world coordinates [m], 0 <= i < VertexCount.
func (b *Body) Vertex(i int32) Vec2 { return mul(b.xf, b.shape.vertices[i]) }

// SetAwake wakes the body or puts it to sleep. Sleep stops it and clears its forces.
func (b *Body) SetAwake(awake bool) {
	if awake {
		if !b.awake {
			b.awake = true
			b.sleepTime = 0
		}
		return
	}
	b.awake = false
	b.sleepTime = 0
	b.LinearVelocity = Vec2{}
	b.AngularVelocity = 0
	b.force = Vec2{}
	b.torque = 0
}

// ApplyForceToCenter wakes the body and applies a force [N] to its center of mass during the next step.
func (b *Body) ApplyForceToCenter(force Vec2) {
	b.SetAwake(true)
	b.force = add(b.force, force)
}

// ApplyTorque wakes the body and applies a torque [N m] during the next step.
func (b *Body) ApplyTorque(torque float32) {
	b.SetAwake(true)
	b.torque += torque
}

// ApplyLinearImpulse wakes the body and applies an impulse [N s] at a point in world coordinates [m], which
// changes its velocities at once.
func (b *Body) ApplyLinearImpulse(impulse, point Vec2) {
	b.SetAwake(true)
	b.LinearVelocity = add(b.LinearVelocity, scale(b.invMass, impulse))
	b.AngularVelocity += float32(b.invI * cross(sub(point, b.c), impulse))
}

func (b *Body) synchronizeTransform(q rot) {
	b.xf.q = q
	b.xf.p = sub(b.c, turn(q, b.localCenter))
}

// synchronizeFixture updates the broad phase with the box that the body has swept since angle a0, whose rotation is q0.
func (b *Body) synchronizeFixture(q0 rot) {
	from := transform{sub(b.c0, turn(q0, b.localCenter)), q0}
	box0, box1 := b.shape.box(from), b.shape.box(b.xf)
	swept := aabb{leastVec(box0.lower, box1.lower), mostVec(box0.upper, box1.upper)}
	b.moveProxy(swept, sub(b.xf.p, from.p))
}

// moveProxy replaces the body's box in the broad phase if it no longer contains box.
func (b *Body) moveProxy(box aabb, displacement Vec2) {
	if b.fat.contains(&box) {
		return
	}
	fat := fatten(box)
	d := scale(aabbMultiplier, displacement)
	if d.X < 0 {
		fat.lower.X += d.X
	} else {
		fat.upper.X += d.X
	}
	if d.Y < 0 {
		fat.lower.Y += d.Y
	} else {
		fat.upper.Y += d.Y
	}
	b.fat = fat
	b.moved = true
}

// advanceSweep moves the start of the body's sweep to the time alpha.
func (b *Body) advanceSweep(alpha float32) {
	beta := (alpha - b.alpha0) / (1 - b.alpha0)
	b.c0 = add(scale(1-beta, b.c0), scale(beta, b.c))
	b.a0 = float32((1-beta)*b.a0) + float32(beta*b.a)
	b.alpha0 = alpha
}

// advance moves the body to the time alpha.
func (b *Body) advance(alpha float32) {
	b.advanceSweep(alpha)
	b.c = b.c0
	b.a = b.a0
	b.synchronizeTransform(makeRot(b.a))
}
