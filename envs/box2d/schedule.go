package box2d

// A velocity iteration is bound by latency: each constraint needs the velocities that the previous one has
// just changed. But constraints without a common body can swap places without changing a bit, even across the
// end of an iteration. So the constraints are split into early ones, the first half of the joints and the
// contacts that affect only these, and late ones. The late ones of an iteration are interleaved with the
// early ones of the next, so that the processor works on two chains at a time: one for each leg of a walker.

// maxOps is the largest number of constraints in an island.
const maxOps = MaxJoints + maxTouching

// schedule is the order in which the constraints of an island are solved. An op below MaxJoints is a joint,
// any other op a contact.
type schedule struct {
	early, late, mixed                [maxOps]int32
	earlyCount, lateCount, mixedCount int32
}

// plan fills in the schedule.
func (s *island) plan() {
	p := &s.order
	half := s.jointCount / 2
	var last [bodySlots]int32 // the last joint of each body
	for j := int32(0); j < s.jointCount; j++ {
		last[s.joints[j].a] = j
		last[s.joints[j].b] = j
	}
	p.earlyCount = s.collect(&p.early, 0, half, &last)
	p.lateCount = s.collect(&p.late, half, max(s.jointCount, 1), &last)
	p.mix(s)
}

// collect lists the joints from first to end and after each the contacts of the bodies whose last joint it is.
func (s *island) collect(ops *[maxOps]int32, first, end int32, last *[bodySlots]int32) int32 {
	n := int32(0)
	for j := first; j < end; j++ {
		if j < s.jointCount {
			ops[n] = j
			n++
		}
		for i := int32(0); i < s.contactCount; i++ {
			if last[s.contacts[i].body] == j {
				ops[n] = MaxJoints + i
				n++
			}
		}
	}
	return n
}

// bodiesOf returns the bodies that an op changes, as bits.
func (s *island) bodiesOf(op int32) uint32 {
	if op < MaxJoints {
		return 1<<uint32(s.joints[op].a) | 1<<uint32(s.joints[op].b)
	}
	return 1 << uint32(s.contacts[op-MaxJoints].body)
}

// mix interleaves the late ops of an iteration with the early ones of the next, but places no early op before
// a late one with which it shares a body.
func (p *schedule) mix(s *island) {
	var open [maxOps + 1]uint32 // bodies of the late ops from here on
	for i := p.lateCount - 1; i >= 0; i-- {
		open[i] = open[i+1] | s.bodiesOf(p.late[i])
	}
	n, e := int32(0), int32(0)
	for i := int32(0); i < p.lateCount; i++ {
		p.mixed[n] = p.late[i]
		n++
		if e < p.earlyCount && s.bodiesOf(p.early[e])&open[i+1] == 0 {
			p.mixed[n] = p.early[e]
			n++
			e++
		}
	}
	for ; e < p.earlyCount; e++ {
		p.mixed[n] = p.early[e]
		n++
	}
	p.mixedCount = n
}

// run solves constraints in order.
func (s *island) run(ops *[maxOps]int32, count int32) {
	for _, op := range ops[:count] {
		if op < MaxJoints {
			s.joints[op].solveVelocity(&s.velocities)
			continue
		}
		k := &s.contacts[op-MaxJoints]
		k.solveVelocity(&s.velocities[k.body])
	}
}
