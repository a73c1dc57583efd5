package box2d

import (
	"fmt"
	"strconv"

	"github.com/evoswarm/evoswarm/envs"
)

// Numbers of values per body, joint and contact in a state vector.
const (
	bodyValues    = 14
	jointValues   = 5
	contactValues = 10
)

// maxTear is the largest distance between the two sides of a hinge in a valid state [m].
const maxTear = 1

// StateVars describes the values that AppendState writes for the named bodies and joints and the given number
// of contact slots. reach bounds positions.
func StateVars(bodies, joints []string, contacts int, reach envs.Bounds) []envs.Var {
	var v []envs.Var
	add := func(name, unit string, low, high float64) {
		v = append(v, envs.Var{Name: name, Unit: unit, Low: low, High: high})
	}
	for _, b := range bodies {
		add(b+" mass center x", "m", reach.MinX, reach.MaxX)
		add(b+" mass center y", "m", reach.MinY, reach.MaxY)
		add(b+" angle", "rad", -2000, 2000)
		add(b+" velocity x", "m/s", -200, 200)
		add(b+" velocity y", "m/s", -200, 200)
		add(b+" angular velocity", "rad/s", -200, 200)
		add(b+" still for", "s", 0, 1)
		add(b+" awake", "", 0, 1)
		add(b+" touches", "", 0, 1)
		add(b+" has touched", "", 0, 1)
		add(b+" box left", "m", reach.MinX-20, reach.MaxX+20)
		add(b+" box bottom", "m", reach.MinY-20, reach.MaxY+20)
		add(b+" box right", "m", reach.MinX-20, reach.MaxX+20)
		add(b+" box top", "m", reach.MinY-20, reach.MaxY+20)
	}
	for _, j := range joints {
		add(j+" impulse x", "N s", -1e4, 1e4)
		add(j+" impulse y", "N s", -1e4, 1e4)
		add(j+" limit impulse", "N m s", -1e4, 1e4)
		add(j+" motor impulse", "N m s", -1e4, 1e4)
		add(j+" at limit", "", 0, 2)
	}
	for i := range contacts {
		c := "contact " + strconv.Itoa(i)
		add(c+" fixture", "", -1, 1e4)
		add(c+" body", "", -1, MaxBodies-1)
		add(c+" touches", "", 0, 1)
		add(c+" points", "", 0, maxManifoldPoints)
		for k := range maxManifoldPoints {
			p := c + " point " + strconv.Itoa(k)
			add(p+" id", "", 0, 1<<32-1)
			add(p+" normal impulse", "N s", 0, 1e4)
			add(p+" tangent impulse", "N s", -1e4, 1e4)
		}
	}
	return v
}

// AppendState appends everything that carries over from one step to the next, in the order of StateVars.
// Contacts are oldest first; free slots hold -1 and 0. Contacts beyond the number of slots are left out.
func (w *World) AppendState(v []float64, contacts []Contact, slots int) []float64 {
	for i := range w.bodyCount {
		b := &w.Bodies[i]
		v = append(v, float64(b.c.X), float64(b.c.Y), float64(b.a), float64(b.LinearVelocity.X), float64(b.LinearVelocity.Y),
			float64(b.AngularVelocity), float64(b.sleepTime), number(b.awake), number(b.InContact), number(b.Began),
			float64(b.fat.lower.X), float64(b.fat.lower.Y), float64(b.fat.upper.X), float64(b.fat.upper.Y))
	}
	for i := range w.jointCount {
		j := &w.Joints[i]
		v = append(v, float64(j.impulseX), float64(j.impulseY), float64(j.impulseZ), float64(j.motorImpulse), float64(j.limit))
	}
	for i := range int32(slots) {
		if i >= w.contactCount {
			v = append(v, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0)
			continue
		}
		c := &contacts[i]
		v = append(v, float64(c.fixture), float64(c.body), number(c.touching), float64(c.manifold.count))
		for k := range c.manifold.points {
			p := manifoldPoint{}
			if int32(k) < c.manifold.count {
				p = c.manifold.points[k]
			}
			v = append(v, float64(p.id), float64(p.normalImpulse), float64(p.tangentImpulse))
		}
	}
	return v
}

// SetState sets the state of w, whose bodies and joints must exist, to v, which AppendState wrote after a
// step of dt with the same number of contact slots. The values must be in the ranges of StateVars. If they
// contradict each other, it returns an error that wraps envs.ErrState and leaves w undefined.
func (w *World) SetState(ground []Fixture, materials []Material, contacts []Contact, dt float32, v []float64, slots int) error {
	w.invDt0 = 1 / dt
	for i := range w.bodyCount {
		if err := w.setBody(i, v[:bodyValues]); err != nil {
			return err
		}
		v = v[bodyValues:]
	}
	for i := range w.jointCount {
		if err := w.setJoint(i, v[:jointValues]); err != nil {
			return err
		}
		v = v[jointValues:]
	}
	w.contactCount = 0
	for range slots {
		if err := w.setContact(ground, materials, contacts, v[:contactValues]); err != nil {
			return err
		}
		v = v[contactValues:]
	}
	return w.checkPairs(ground, materials, contacts)
}

func (w *World) setBody(i int32, v []float64) error {
	b := &w.Bodies[i]
	ok := true
	b.c, b.a = Vec2{float32(v[0]), float32(v[1])}, float32(v[2])
	b.c0, b.a0, b.alpha0 = b.c, b.a, 0
	b.LinearVelocity, b.AngularVelocity = Vec2{float32(v[3]), float32(v[4])}, float32(v[5])
	b.sleepTime = float32(v[6])
	b.awake, b.InContact, b.Began = truth(v[7], &ok), truth(v[8], &ok), truth(v[9], &ok)
	b.force, b.torque, b.moved = Vec2{}, 0, false
	b.fat = aabb{Vec2{float32(v[10]), float32(v[11])}, Vec2{float32(v[12]), float32(v[13])}}
	b.synchronizeTransform(makeRot(b.a))
	box := b.shape.box(b.xf)
	if !ok {
		return fmt.Errorf("%w: a flag of body %d is neither 0 nor 1", envs.ErrState, i)
	}
	if !b.fat.contains(&box) {
		return fmt.Errorf("%w: the box of body %d does not hold it", envs.ErrState, i)
	}
	return nil
}

func (w *World) setJoint(i int32, v []float64) error {
	j := &w.Joints[i]
	j.impulseX, j.impulseY, j.impulseZ, j.motorImpulse = float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3])
	j.limit = int32(v[4])
	if float64(j.limit) != v[4] {
		return fmt.Errorf("%w: joint %d is at limit %v, want 0, 1 or 2", envs.ErrState, i, v[4])
	}
	a, b := &w.Bodies[j.def.BodyA], &w.Bodies[j.def.BodyB]
	tear := length(sub(a.WorldPoint(j.def.LocalAnchorA), b.WorldPoint(j.def.LocalAnchorB)))
	if !(tear <= maxTear) {
		return fmt.Errorf("%w: joint %d is torn by %v m", envs.ErrState, i, tear)
	}
	return nil
}

// setContact adds a contact, unless its slot is free.
func (w *World) setContact(ground []Fixture, materials []Material, contacts []Contact, v []float64) error {
	if v[0] == -1 {
		for _, x := range v[2:] {
			if v[1] != -1 || x != 0 {
				return fmt.Errorf("%w: a free place of a contact is not empty", envs.ErrState)
			}
		}
		return nil
	}
	fixture, body, count := int32(v[0]), int32(v[1]), int32(v[3])
	ok := float64(fixture) == v[0] && float64(body) == v[1] && float64(count) == v[3]
	if !ok || fixture < 0 || int(fixture) >= len(ground) || body < 0 || body >= w.bodyCount {
		return fmt.Errorf("%w: a contact of fixture %v and body %v with %v points", envs.ErrState, v[0], v[1], v[3])
	}
	before, b := w.contactCount, &w.Bodies[body]
	awake, sleepTime := b.awake, b.sleepTime
	w.addContact(ground, materials, contacts, fixture, body)
	b.awake, b.sleepTime = awake, sleepTime // a new contact wakes
	if w.contactCount != before+1 {
		return fmt.Errorf("%w: the contact of fixture %d and body %d is there twice, or too much", envs.ErrState, fixture, body)
	}
	c := &contacts[before]
	c.touching = truth(v[2], &ok)
	c.manifold.count = count
	for k := range c.manifold.points {
		p, u := &c.manifold.points[k], v[4+3*k:]
		p.id, p.normalImpulse, p.tangentImpulse = uint32(u[0]), float32(u[1]), float32(u[2])
		ok = ok && float64(p.id) == u[0]
	}
	if !ok || c.touching != (count > 0) {
		return fmt.Errorf("%w: the contact of fixture %d and body %d contradicts itself", envs.ErrState, fixture, body)
	}
	return nil
}

// checkPairs checks that there is a contact for each pair of overlapping boxes.
func (w *World) checkPairs(ground []Fixture, materials []Material, contacts []Contact) error {
	for i := range w.bodyCount {
		b := &w.Bodies[i]
		for k := range ground {
			fat := ground[k].box()
			if !b.fat.overlaps(&fat) || !materials[ground[k].material()].Filter.meets(b.filter) {
				continue
			}
			if !w.paired(contacts, int32(k), i) {
				return fmt.Errorf("%w: no contact of fixture %d and body %d, whose boxes overlap", envs.ErrState, k, i)
			}
		}
	}
	return nil
}

func (w *World) paired(contacts []Contact, fixture, body int32) bool {
	for i := range w.contactCount {
		if c := &contacts[i]; c.fixture == fixture && c.body == body {
			return true
		}
	}
	return false
}

func number(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// truth reads a flag and sets ok to false if the value is not 0 or 1.
func truth(x float64, ok *bool) bool {
	*ok = *ok && (x == 0 || x == 1)
	return x == 1
}
