package box2d

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// flat is a ground without hills, in edges 1 m long from x = -20 to 20.
func flat() *land {
	var ground land
	for x := float32(-20); x < 20; x++ {
		ground.edge(Vec2{x, 0}, Vec2{x + 1, 0}, Material{Friction: 0.5, Filter: groundFilter})
	}
	return &ground
}

func boxDef(x, y, angle float32) *BodyDef {
	return &BodyDef{Position: Vec2{x, y}, Angle: angle, Shape: Box(0.5, 0.25), Density: 2, Friction: 0.5, Filter: Filter{0x20, 1}}
}

// drawWorld builds a world of hinged boxes with random numbers.
func drawWorld(t *rapid.T) room {
	f := func(low, high float32) float32 { return rapid.Float32Range(low, high).Draw(t, "f") }
	var w room
	w.Reset(Vec2{0, -10})
	n := int32(rapid.IntRange(1, MaxBodies).Draw(t, "bodies"))
	for i := int32(0); i < n; i++ {
		b := w.CreateBody(boxDef(f(-8, 8), f(0.2, 6), f(-4, 4)))
		w.Bodies[b].LinearVelocity = Vec2{f(-40, 40), f(-40, 40)}
		w.Bodies[b].AngularVelocity = f(-30, 30)
		if i > 0 && rapid.Bool().Draw(t, "joint") {
			w.CreateRevoluteJoint(&RevoluteJointDef{BodyA: i - 1, BodyB: i, LocalAnchorA: Vec2{0.5, 0}, LocalAnchorB: Vec2{-0.5, 0},
				LowerAngle: f(-2, -0.1), UpperAngle: f(0.1, 2), MotorSpeed: f(-5, 5), MaxMotorTorque: f(0, 50)})
		}
	}
	return w
}

func (w *World) finite() bool {
	for i := range w.Bodies[:w.bodyCount] {
		b := &w.Bodies[i]
		for _, v := range [6]float32{b.xf.p.X, b.xf.p.Y, b.a, b.LinearVelocity.X, b.LinearVelocity.Y, b.AngularVelocity} {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return false
			}
		}
	}
	return true
}

// negativeZero says whether a velocity or an impulse is -0.
func (w *room) negativeZero() bool {
	var all []float32
	for i := range w.Bodies[:w.bodyCount] {
		b := &w.Bodies[i]
		all = append(all, b.LinearVelocity.X, b.LinearVelocity.Y, b.AngularVelocity)
	}
	for i := range w.Joints[:w.jointCount] {
		j := &w.Joints[i]
		all = append(all, j.impulseX, j.impulseY, j.impulseZ, j.motorImpulse)
	}
	for i := range w.contacts[:w.contactCount] {
		m := &w.contacts[i].manifold
		for _, p := range m.points[:m.count] {
			all = append(all, p.normalImpulse, p.tangentImpulse)
		}
	}
	for _, v := range all {
		if v == 0 && math.Signbit(float64(v)) {
			return true
		}
	}
	return false
}

func TestCopyGoesOn(t *testing.T) {
	ground := flat()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			w.Step(ground, 1.0/50, 12, 8)
		}
		c := w
		for i := range 40 {
			w.Step(ground, 1.0/50, 12, 8)
			c.Step(ground, 1.0/50, 12, 8)
			if got, want := c.hash(), w.hash(); got != want {
				t.Fatalf("copy after %d steps: got %x, want %x", i, got, want)
			}
		}
	})
}

// A used World that is reset does what a new one does.
func TestResetForgets(t *testing.T) {
	ground := flat()
	var used room
	rapid.Check(t, func(t *rapid.T) {
		fresh := drawWorld(t)
		used.Reset(fresh.gravity)
		for i := int32(0); i < fresh.bodyCount; i++ {
			b := &fresh.Bodies[i]
			def := boxDef(b.xf.p.X, b.xf.p.Y, b.a)
			used.CreateBody(def)
			used.Bodies[i].LinearVelocity, used.Bodies[i].AngularVelocity = b.LinearVelocity, b.AngularVelocity
		}
		for i := int32(0); i < fresh.jointCount; i++ {
			used.CreateRevoluteJoint(&fresh.Joints[i].def)
		}
		for i := range 30 {
			fresh.Step(ground, 1.0/50, 10, 10)
			used.Step(ground, 1.0/50, 10, 10)
			if got, want := used.hash(), fresh.hash(); got != want {
				t.Fatalf("step %d after Reset: got %x, want %x", i, got, want)
			}
		}
	})
}

func TestRandomStepsStayFinite(t *testing.T) {
	ground := flat()
	steps := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f := func(low, high float32) float32 { return rapid.Float32Range(low, high).Draw(t, "f") }
		for range 100 {
			b := &w.Bodies[rapid.Int32Range(0, w.bodyCount-1).Draw(t, "body")]
			switch rapid.IntRange(0, 3).Draw(t, "act") {
			case 0:
				b.ApplyLinearImpulse(Vec2{f(-20, 20), f(-20, 20)}, b.WorldPoint(Vec2{f(-1, 1), f(-1, 1)}))
			case 1:
				b.ApplyForceToCenter(Vec2{f(-500, 500), f(-500, 500)})
			case 2:
				b.ApplyTorque(f(-200, 200))
			}
			if w.jointCount > 0 {
				w.SetMotorSpeed(0, f(-9, 9))
				w.SetMaxMotorTorque(0, f(0, 99))
			}
			w.Step(ground, 1.0/50, 12, 8)
			steps++
			if !w.finite() || w.negativeZero() {
				t.Fatalf("after %d steps: finite %v, some -0 %v", steps, w.finite(), w.negativeZero())
			}
		}
	})
	t.Logf("%d steps", steps)
}

func TestStepDoesNotAllocate(t *testing.T) {
	build, play := recorded(t, "hardcore0")
	var s scene
	for _, line := range build {
		if err := s.do(line); err != nil {
			t.Fatal(err)
		}
	}
	all := acts(t, play)
	if n := testing.AllocsPerRun(10, func() {
		w := s.w
		for i := range all {
			all[i].do(&w, &s.ground)
		}
	}); n != 0 {
		t.Errorf("allocations in %d acts: got %v, want 0", len(all), n)
	}
}

func TestSleepAndWake(t *testing.T) {
	ground := flat()
	var w room
	w.Reset(Vec2{0, -10})
	b := &w.Bodies[w.CreateBody(boxDef(0, 1, 0))]
	steps := 0
	for b.Awake() && steps < 200 {
		w.Step(ground, 1.0/50, 20, 20)
		steps++
	}
	if b.Awake() || !b.InContact || !b.Began {
		t.Fatalf("after %d steps: awake %v, in contact %v, began %v; want false, true, true", steps, b.Awake(), b.InContact, b.Began)
	}
	before := b.Position()
	w.Step(ground, 1.0/50, 20, 20)
	if b.Position() != before || b.Awake() {
		t.Errorf("asleep: moved from %v to %v", before, b.Position())
	}
	b.ApplyLinearImpulse(Vec2{0, 10}, b.WorldCenter())
	for range 10 {
		w.Step(ground, 1.0/50, 20, 20)
	}
	if !b.Awake() || b.InContact || !b.Began || b.Position().Y < before.Y+0.3 {
		t.Errorf("after a kick: awake %v, in contact %v, began %v, at %v", b.Awake(), b.InContact, b.Began, b.Position())
	}
}

// A body faster than it is thick does not fall through an edge, but falls through without continuous
// collision: it would be below after one step.
func TestBulletStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w room
		w.Reset(Vec2{})
		v := rapid.Float32Range(20, 99).Draw(t, "speed")
		b := &w.Bodies[w.CreateBody(&BodyDef{Position: Vec2{0, 0.8}, Shape: Box(0.1, 0.1), Density: 1, Filter: Filter{1, 1}})]
		b.LinearVelocity = Vec2{rapid.Float32Range(-20, 20).Draw(t, "vx"), -v}
		b.AngularVelocity = rapid.Float32Range(-50, 50).Draw(t, "spin")
		ground := flat()
		for range 5 {
			w.Step(ground, 1.0/50, 10, 10)
			if b.WorldCenter().Y < 0 {
				t.Fatalf("fell through: %v", b.WorldCenter())
			}
		}
		if !b.Began {
			t.Fatal("never touched")
		}
	})
}

func TestHingeKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w room
		w.Reset(Vec2{0, -10})
		w.CreateBody(boxDef(0, 5, 0))
		w.CreateBody(boxDef(1, 5, 0))
		lower := rapid.Float32Range(-1.5, 0).Draw(t, "lower")
		upper := rapid.Float32Range(0.1, 1.5).Draw(t, "upper")
		speed := rapid.Float32Range(-8, 8).Draw(t, "speed")
		j := w.CreateRevoluteJoint(&RevoluteJointDef{BodyB: 1, LocalAnchorA: Vec2{0.5, 0}, LocalAnchorB: Vec2{-0.5, 0},
			LowerAngle: lower, UpperAngle: upper, MotorSpeed: speed, MaxMotorTorque: 30})
		for i := range 100 {
			w.Step(&land{}, 1.0/50, 30, 20)
			gap := length(sub(w.Bodies[0].WorldPoint(Vec2{0.5, 0}), w.Bodies[1].WorldPoint(Vec2{-0.5, 0})))
			if a := w.JointAngle(j); a < lower-0.25 || a > upper+0.25 || gap > 0.02 {
				t.Fatalf("step %d: angle %v outside of [%v, %v], or gap %v", i, a, lower, upper, gap)
			}
		}
	})
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		filter Filter
		want   bool
	}{
		{Filter{1, DefaultMask}, true},
		{Filter{0x20, 1}, true},
		{Filter{0x20, 2}, false}, // does not want the ground
		{Filter{0, 1}, false},    // the ground does not want it
	} {
		var w room
		w.Reset(Vec2{0, -10})
		def := boxDef(0, 0.2, 0)
		def.Filter = c.filter
		b := w.CreateBody(def)
		w.Step(flat(), 1.0/50, 5, 5)
		if got := w.Bodies[b].Began; got != c.want {
			t.Errorf("filter %+v: touched %v, want %v", c.filter, got, c.want)
		}
	}
}

func TestFullPools(t *testing.T) {
	var w room
	w.Reset(Vec2{})
	for range MaxBodies {
		w.CreateBody(boxDef(0, 5, 0))
	}
	for range MaxJoints {
		w.CreateRevoluteJoint(&RevoluteJointDef{BodyB: 1, UpperAngle: 1})
	}
	if w.Overflow() {
		t.Error("overflow of pools that are just full")
	}
	w.CreateBody(boxDef(0, 5, 0))
	if !w.Overflow() || w.bodyCount != MaxBodies {
		t.Errorf("one body too many: overflow %v, %d bodies", w.Overflow(), w.bodyCount)
	}
	w.Reset(Vec2{})
	w.CreateBody(boxDef(0, 0, 0))
	var crowd land
	for range MaxContacts + 1 {
		crowd.edge(Vec2{-1, 9}, Vec2{1, 0}, Material{Filter: groundFilter})
	}
	// A caller may give room for more or for fewer contacts than MaxContacts.
	for _, c := range []struct{ room, want int32 }{{MaxContacts + 9, MaxContacts}, {MaxContacts, MaxContacts}, {7, 7}, {0, 0}} {
		w := w
		w.World.Step(crowd.fixtures, crowd.hulls, crowd.materials, make([]Contact, c.room), 1.0/50, 1, 1)
		if !w.Overflow() || w.contactCount != c.want {
			t.Errorf("too many contacts for room %d: overflow %v, %d contacts, want %d", c.room, w.Overflow(), w.contactCount, c.want)
		}
	}
}
