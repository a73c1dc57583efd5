package box2d

// World holds the moving part of a scene: with its contacts, everything that carries over from step to step. It
// is a flat value that can be copied with =; a copy of it and of the contacts continues with the same bits. The
// zero World is empty and has no gravity.
type World struct {
	Bodies [MaxBodies]Body
	Joints [MaxJoints]RevoluteJoint

	gravity      Vec2
	invDt0       float32 // of the previous step
	bodyCount    int32
	jointCount   int32
	contactCount int32
	overflow     bool
}

// Reset removes everything from the world and sets its gravity [m/s^2].
func (w *World) Reset(gravity Vec2) {
	w.gravity = gravity
	w.invDt0 = 0
	w.bodyCount = 0
	w.jointCount = 0
	w.contactCount = 0
	w.overflow = false
}

// CreateBody adds a dynamic body, awake and at rest, and returns its index, counted from 0. If there are
// MaxBodies bodies already, nothing is added, and Overflow reports true.
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

// Overflow reports whether a body, joint or contact did not fit into its pool since Reset. From then on the
// physics is wrong.
func (w *World) Overflow() bool { return w.overflow }

// Step advances the world by dt > 0 [s] over the ground and then clears the forces. ground, its hulls and its
// materials must be the same in every step since Reset and have at most 2^31-1 fixtures; Step only reads them.
// contacts is where the world keeps its contacts from step to step, oldest first; only the first MaxContacts are
// used. Step does not allocate. Bit exact.
func (w *World) Step(ground []Fixture, hulls []Hull, materials []Material, contacts []Contact, dt float32, velocityIterations, positionIterations int32) {
	w.findNewContacts(ground, materials, contacts)
	invDt := 1 / dt
	dtRatio := float32(w.invDt0 * dt)
	w.collide(ground, hulls, contacts)
	var s island
	w.solve(&s, contacts, dt, dtRatio, velocityIterations, positionIterations)
	w.findNewContacts(ground, materials, contacts)
	w.solveTOI(&s, ground, hulls, materials, contacts, dt, velocityIterations)
	w.invDt0 = invDt
	for i := int32(0); i < w.bodyCount; i++ {
		b := &w.Bodies[i]
		b.force = Vec2{}
		b.torque = 0
	}
}

// solve advances all awake islands.
func (w *World) solve(s *island, contacts []Contact, dt, dtRatio float32, velocityIterations, positionIterations int32) {
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
		s.gather(w, contacts, seed, &inIsland, &jointTaken)
		s.solve(w, contacts, dt, dtRatio, velocityIterations, positionIterations)
	}
	for i := int32(0); i < w.bodyCount; i++ {
		if inIsland[i] {
			w.Bodies[i].synchronizeFixture(q0[i])
		}
	}
}
