package box2d

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var scenesFile = flag.String("scenes", "testdata/scenes.txt", "recording of testdata/record.sh with which the engine is compared")

var errScene = errors.New("box2d: recorded scene")

// scene is a recorded scene that is being replayed.
type scene struct {
	name   string
	w      room
	ground land
	steps  int
	wrong  int // steps whose hash differs
	first  int // the first of them
	rays   int // rays that differ
}

// land is a ground in which each fixture has a material of its own.
type land struct {
	fixtures  []Fixture
	hulls     []Hull
	materials []Material
}

func (l *land) edge(a, b Vec2, m Material) {
	l.fixtures = append(l.fixtures, EdgeFixture(a, b, int32(len(l.materials))))
	l.materials = append(l.materials, m)
}

func (l *land) polygon(s *PolygonShape, m Material) {
	l.hulls = append(l.hulls, Hull{})
	i := len(l.hulls) - 1
	l.fixtures = append(l.fixtures, PolygonFixture(&l.hulls[i], int32(i), s, int32(len(l.materials))))
	l.materials = append(l.materials, m)
}

func (l *land) rayCast(p1, p2 Vec2) (float32, bool) { return RayCast(l.fixtures, l.hulls, p1, p2) }

// room is a World with its contacts. It can be copied with =.
type room struct {
	World
	contacts [MaxContacts]Contact
}

func (r *room) Step(l *land, dt float32, velocityIterations, positionIterations int32) {
	r.World.Step(l.fixtures, l.hulls, l.materials, r.contacts[:], dt, velocityIterations, positionIterations)
}

// words reads the fields of one line of a recording.
type words struct {
	f   []string
	err error
}

func (l *words) int() int32 {
	if len(l.f) == 0 {
		l.err = errScene
		return 0
	}
	n, err := strconv.Atoi(l.f[0])
	if err != nil {
		l.err = err
	}
	l.f = l.f[1:]
	return int32(n)
}

func (l *words) hex() uint64 {
	if len(l.f) == 0 {
		l.err = errScene
		return 0
	}
	n, err := strconv.ParseUint(l.f[0], 16, 64)
	if err != nil {
		l.err = err
	}
	l.f = l.f[1:]
	return n
}

func (l *words) float() float32 { return math.Float32frombits(uint32(l.hex())) }

func (l *words) vec() Vec2 {
	x := l.float()
	return Vec2{x, l.float()}
}

func (l *words) shape() PolygonShape {
	points := make([]Vec2, l.int())
	for i := range points {
		points[i] = l.vec()
	}
	if len(points) == 1 {
		return Box(points[0].X, points[0].Y)
	}
	return Polygon(points)
}

var groundFilter = Filter{1, DefaultMask}

// do carries out one line of a recording.
func (s *scene) do(line string) error {
	l := words{f: strings.Fields(line)}
	if len(l.f) == 0 {
		return nil
	}
	verb := l.f[0]
	l.f = l.f[1:]
	switch verb {
	case "gravity":
		s.w.Reset(l.vec())
	case "edge":
		body, a, b := l.int(), l.vec(), l.vec()
		friction := l.float()
		s.ground.edge(a, b, Material{Friction: friction, Restitution: l.float(), Filter: groundFilter, Body: body})
	case "polygon":
		body, friction, restitution := l.int(), l.float(), l.float()
		shape := l.shape()
		s.ground.polygon(&shape, Material{Friction: friction, Restitution: restitution, Filter: groundFilter, Body: body})
	case "body":
		def := BodyDef{Position: l.vec(), Angle: l.float(), Density: l.float(), Friction: l.float(), Restitution: l.float(),
			Filter: Filter{0x20, 1}}
		v, spin := l.vec(), l.float()
		def.Shape = l.shape()
		b := &s.w.Bodies[s.w.CreateBody(&def)]
		b.LinearVelocity, b.AngularVelocity = v, spin
	case "joint":
		s.w.CreateRevoluteJoint(&RevoluteJointDef{BodyA: l.int(), BodyB: l.int(), LocalAnchorA: l.vec(), LocalAnchorB: l.vec(),
			ReferenceAngle: l.float(), LowerAngle: l.float(), UpperAngle: l.float(), MotorSpeed: l.float(), MaxMotorTorque: l.float()})
	case "force":
		b := l.int()
		s.w.Bodies[b].ApplyForceToCenter(l.vec())
	case "torque":
		b := l.int()
		s.w.Bodies[b].ApplyTorque(l.float())
	case "impulse":
		b, i := l.int(), l.vec()
		s.w.Bodies[b].ApplyLinearImpulse(i, l.vec())
	case "motor":
		j := l.int()
		s.w.SetMotorSpeed(j, l.float())
		s.w.SetMaxMotorTorque(j, l.float())
	case "ray":
		a, b := l.vec(), l.vec()
		got, _ := s.ground.rayCast(a, b)
		if bits(got) != uint32(l.hex()) {
			s.rays++
		}
	case "step":
		v, p := l.int(), l.int()
		s.w.Step(&s.ground, 1.0/50, v, p)
		s.steps++
		if s.w.hash() != l.hex() {
			if s.wrong == 0 {
				s.first = s.steps
			}
			s.wrong++
		}
	case "state":
		return s.compare(&l)
	default:
		return fmt.Errorf("%w: verb %q", errScene, verb)
	}
	if l.err == nil && len(l.f) != 0 {
		l.err = errScene
	}
	return l.err
}

// compare compares the bodies with a recorded state, once the hashes differ.
func (s *scene) compare(l *words) error {
	for i := int32(0); i < s.w.bodyCount; i++ {
		b := &s.w.Bodies[i]
		got := []float32{b.xf.p.X, b.xf.p.Y, b.a, b.LinearVelocity.X, b.LinearVelocity.Y, b.AngularVelocity}
		for k := range got {
			want := l.float()
			if l.err == nil && s.wrong == 0 && bits(got[k]) != bits(want) {
				return fmt.Errorf("%w: step %d body %d value %d: got %v, want %v", errScene, s.steps, i, k, got[k], want)
			}
		}
	}
	return l.err
}

// bits returns the bits of f, of +0 for any zero.
func bits(f float32) uint32 {
	if f == 0 {
		return 0
	}
	return math.Float32bits(f)
}

// hash is the FNV-1a hash of bodies and contacts that testdata/record.cpp computes.
func (w *room) hash() uint64 {
	h := uint64(14695981039346656037)
	add := func(u uint32) {
		for i := 0; i < 4; i++ {
			h = (h ^ uint64(u>>(8*i)&0xff)) * 1099511628211
		}
	}
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	for i := range w.Bodies[:w.bodyCount] {
		b := &w.Bodies[i]
		for _, f := range [6]float32{b.xf.p.X, b.xf.p.Y, b.a, b.LinearVelocity.X, b.LinearVelocity.Y, b.AngularVelocity} {
			add(bits(f))
		}
		add(flag(b.awake) | flag(b.InContact)<<1 | flag(b.Began)<<2)
	}
	for i := w.contactCount - 1; i >= 0; i-- {
		c := &w.contacts[i]
		add(uint32(c.fixture))
		add(uint32(c.body))
		add(flag(c.touching))
		add(uint32(c.manifold.count))
		for _, p := range c.manifold.points[:c.manifold.count] {
			add(p.id)
			add(bits(p.normalImpulse))
			add(bits(p.tangentImpulse))
		}
	}
	return h
}

// replay replays every scene of a recording and hands each to done at its end.
func replay(r io.Reader, done func(*scene)) error {
	var s *scene
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if name, ok := strings.CutPrefix(lines.Text(), "scene "); ok {
			if s != nil {
				done(s)
			}
			s = &scene{name: name}
			continue
		}
		if err := s.do(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %s: %w", n, s.name, err)
		}
	}
	if s != nil {
		done(s)
	}
	return lines.Err()
}

// TestGoldenScenes compares every recorded scene with the C++ engine: all bits of all bodies and contacts in
// every step.
func TestGoldenScenes(t *testing.T) {
	f, err := os.Open(*scenesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scenes, steps, contacts := 0, 0, int32(0)
	err = replay(f, func(s *scene) {
		scenes++
		steps += s.steps
		contacts = max(contacts, s.w.contactCount)
		if s.wrong > 0 || s.rays > 0 {
			t.Errorf("%s: %d of %d steps differ, first step %d; %d rays differ", s.name, s.wrong, s.steps, s.first, s.rays)
		}
		if s.w.Overflow() {
			t.Errorf("%s: pools overflow", s.name)
		}
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d scenes, %d steps; at most %d contacts at the end", scenes, steps, contacts)
}
