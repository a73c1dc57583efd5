package box2d

// World holds the moving part of a scene and everything that carries over from step to step. It is one flat
// value that = copies; a copy continues with the same bits. The zero World is empty, without gravity.
type World struct {
	Bodies [MaxBodies]Body
	Joints [MaxJoints]RevoluteJoint

	contacts     [MaxContacts]contact // oldest first
	gravity      Vec2
	invDt0       float32 // of the step before
	bodyCount    int32
	jointCount   int32
	contactCount int32
	overflow     bool
}

// Reset empties the world and sets its gravity [m/s^2].
func (w *World) Reset(gravity Vec2) {
	w.gravity = gravity
	w.invDt0 = 0
	w.bodyCount = 0
	w.jointCount = 0
	w.contactCount = 0
	w.overflow = false
}

// CreateBody adds a dynamic body, awake and at rest, and returns its index, counted from 0. Beyond MaxBodies nothing is
// added, and Overflow tells.
func (w *World) CreateBody(def *BodyDef) int32 {
	if w.bodyCount == MaxBodies {
		w.overflow = true
		return w.bodyCount - 1
	}
	w.Bodies[w.bodyCount].create(def)
	w.bodyCount++
	return w.bodyCount - 1
}

// BodyCount returns the number of bodies.
func (w *World) BodyCount() int32 { return w.bodyCount }

// Overflow says whether something did not fit into the pools since Reset: the physics is wrong from there on.
func (w *World) Overflow() bool { return w.overflow }

// Step advances the world by dt [s], which must be positive, over the ground, and then forgets the forces.
// ground must be the same in every step since Reset, at most 2^31-1 fixtures; it is only read. Step does not
// allocate. Bit exact.
func (w *World) Step(ground []Fixture, dt float32, velocityIterations, positionIterations int32) {
	w.findNewContacts(ground)
	invDt := 1 / dt
	dtRatio := float32(w.invDt0 * dt)
	w.collide(ground)
	var s island
	w.solve(&s, ground, dt, dtRatio, velocityIterations, positionIterations)
	w.solveTOI(&s, ground, dt, velocityIterations)
	w.invDt0 = invDt
	for i := int32(0); i < w.bodyCount; i++ {
		b := &w.Bodies[i]
		b.force = Vec2{}
		b.torque = 0
	}
}

// solve advances all awake islands and looks for new contacts.
func (w *World) solve(s *island, ground []Fixture, dt, dtRatio float32, velocityIterations, positionIterations int32) {
	var inIsland [MaxBodies]bool
	var jointTaken [MaxJoints]bool
	var q0 [MaxBodies]rot
	for i := int32(0); i < w.bodyCount; i++ {
		q0[i] = w.Bodies[i].xf.q
	}
	for seed := w.bodyCount - 1; seed >= 0; seed-- {
		if inIsland[seed] || !w.Bodies[seed].awake {
			continue
		}
		s.gather(w, seed, &inIsland, &jointTaken)
		s.solve(w, dt, dtRatio, velocityIterations, positionIterations)
	}
	for i := int32(0); i < w.bodyCount; i++ {
		if inIsland[i] {
			w.Bodies[i].synchronizeFixture(q0[i])
		}
	}
	w.findNewContacts(ground)
}
