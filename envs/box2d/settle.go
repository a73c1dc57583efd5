package box2d

// A velocity iteration is a function of the velocities and of most accumulated impulses. In float32 it often
// returns to an earlier state, for a lander in flight after ten iterations or so. From then on it repeats
// itself, and only the impulses impX and impY of the joints, on which nothing depends, keep growing. So the
// bits of the remaining iterations are known without computing them.

// maxPeriod is the longest cycle that is detected.
const maxPeriod = 8

// mark is a state of the iteration with which later ones are compared.
type mark struct {
	velocities [bodySlots]velocity
	joints     [MaxJoints]Vec2            // impM and impZ
	contacts   [maxTouching][2]Vec2       // normal and tangent impulses of both points
	steps      [maxPeriod][MaxJoints]Vec2 // what each iteration of a cycle adds to impX and impY
}

func (s *island) setMark() {
	m := &s.mark
	m.velocities = s.velocities
	for j := int32(0); j < s.jointCount; j++ {
		m.joints[j] = Vec2{s.joints[j].impM, s.joints[j].impZ}
	}
	for i := int32(0); i < s.contactCount; i++ {
		p := &s.contacts[i].points
		m.contacts[i] = [2]Vec2{{p[0].normalImpulse, p[0].tangentImpulse}, {p[1].normalImpulse, p[1].tangentImpulse}}
	}
}

// atMark reports whether the iteration is back at the mark.
func (s *island) atMark() bool {
	m := &s.mark
	for i := int32(0); i < s.bodyCount; i++ {
		v, was := &s.velocities[s.bodies[i]], &m.velocities[s.bodies[i]]
		if v.v.X != was.v.X || v.v.Y != was.v.Y || v.w != was.w {
			return false
		}
	}
	for j := int32(0); j < s.jointCount; j++ {
		k := &s.joints[j]
		if k.impM != m.joints[j].X || k.impZ != m.joints[j].Y {
			return false
		}
	}
	for i := int32(0); i < s.contactCount; i++ {
		p := &s.contacts[i].points
		if p[0].normalImpulse != m.contacts[i][0].X || p[0].tangentImpulse != m.contacts[i][0].Y ||
			p[1].normalImpulse != m.contacts[i][1].X || p[1].tangentImpulse != m.contacts[i][1].Y {
			return false
		}
	}
	return true
}

// solveVelocities iterates over joints and contacts. It marks the state after 1, 2, 4, 8, 16, 24, 32...
// iterations, so that it finds a cycle soon after it begins. Here an iteration begins with the late
// constraints.
func (s *island) solveVelocities(iterations int32) {
	if iterations < 1 {
		return
	}
	s.plan()
	p := &s.order
	s.run(&p.early, p.earlyCount)
	marked := int32(0)
	for i := int32(1); i < iterations; i++ {
		s.run(&p.mixed, p.mixedCount)
		if marked > 0 && s.atMark() {
			s.skip(i-marked, iterations-1-i)
			i = iterations
		} else if i&(i-1) == 0 || i&(maxPeriod-1) == 0 {
			s.setMark()
			marked = i
		}
	}
	s.run(&p.late, p.lateCount)
}

// skip applies the remaining iterations, which repeat themselves with the given period.
func (s *island) skip(period, left int32) {
	if left >= 2*period {
		for i := int32(0); i < period; i++ {
			s.run(&s.order.mixed, s.order.mixedCount)
			s.mark.steps[i] = [MaxJoints]Vec2{}
			for j := int32(0); j < s.jointCount; j++ {
				s.mark.steps[i][j] = Vec2{s.joints[j].x, s.joints[j].y}
			}
		}
		left -= period
		for j := int32(0); j < s.jointCount; j += 2 {
			s.repeat(&s.joints[j], &s.joints[(j+1)&(MaxJoints-1)], j, period, left/period)
		}
		left %= period
	}
	for ; left > 0; left-- {
		s.run(&s.order.mixed, s.order.mixedCount)
	}
}

// repeat adds the contribution of a cycle to impX and impY of the joints a and b, which are joints j and j+1,
// the given number of times. It works on two joints at a time, since their sums are independent.
func (s *island) repeat(a, b *jointConstraint, j, period, times int32) {
	aX, aY, bX, bY := a.impX, a.impY, b.impX, b.impY
	for grows := true; grows && times > 0; times-- {
		x0, y0, x1, y1 := aX, aY, bX, bY
		for i := int32(0); i < period; i++ {
			step := &s.mark.steps[i&(maxPeriod-1)]
			p, q := step[j&(MaxJoints-1)], step[(j+1)&(MaxJoints-1)]
			aX += p.X
			aY += p.Y
			bX += q.X
			bY += q.Y
		}
		grows = aX != x0 || aY != y0 || bX != x1 || bY != y1
	}
	a.impX, a.impY, b.impX, b.impY = aX, aY, bX, bY
}
