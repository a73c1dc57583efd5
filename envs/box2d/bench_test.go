package box2d

import (
	"os"
	"strings"
	"testing"
)

// recorded returns the lines of the scene called name in testdata/scenes.txt: what builds it, and what happens then.
func recorded(tb testing.TB, name string) (build, play []string) {
	tb.Helper()
	data, err := os.ReadFile(*scenesFile)
	if err != nil {
		tb.Fatal(err)
	}
	on := false
	for _, line := range strings.Split(string(data), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case verb == "scene":
			on = rest == name
		case !on:
		case verb == "gravity" || verb == "edge" || verb == "polygon" || verb == "body" || verb == "joint":
			build = append(build, line)
		default:
			play = append(play, line)
		}
	}
	if len(play) == 0 {
		tb.Fatalf("no scene %s in %s", name, *scenesFile)
	}
	return build, play
}

// act is a line of a recording, read beforehand so that benchmarks do not read.
type act struct {
	verb string
	i    int32
	p, q Vec2
	v, n int32
}

func acts(tb testing.TB, play []string) []act {
	tb.Helper()
	var all []act
	for _, line := range play {
		l := words{f: strings.Fields(line)}
		a := act{verb: l.f[0]}
		l.f = l.f[1:]
		switch a.verb {
		case "force":
			a.i, a.p = l.int(), l.vec()
		case "torque":
			a.i, a.p.X = l.int(), l.float()
		case "impulse":
			a.i, a.p, a.q = l.int(), l.vec(), l.vec()
		case "motor":
			a.i, a.p.X, a.p.Y = l.int(), l.float(), l.float()
		case "step":
			a.v, a.n = l.int(), l.int()
		default:
			continue
		}
		if l.err != nil {
			tb.Fatal(l.err)
		}
		all = append(all, a)
	}
	return all
}

func (a *act) do(w *World, ground []Fixture) int {
	switch a.verb {
	case "force":
		w.Bodies[a.i].ApplyForceToCenter(a.p)
	case "torque":
		w.Bodies[a.i].ApplyTorque(a.p.X)
	case "impulse":
		w.Bodies[a.i].ApplyLinearImpulse(a.p, a.q)
	case "motor":
		w.SetMotorSpeed(a.i, a.p.X)
		w.SetMaxMotorTorque(a.i, a.p.Y)
	case "step":
		w.Step(ground, 1.0/50, a.v, a.n)
		return 1
	}
	return 0
}

// BenchmarkStep replays a recorded scene. `testdata/record.sh bench NAME N` runs such scenes in the C++ engine.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"lander0", "lander1", "walker0", "walker1", "hardcore0"} {
		build, play := recorded(b, name)
		var s scene
		for _, line := range build {
			if err := s.do(line); err != nil {
				b.Fatal(err)
			}
		}
		all := acts(b, play)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				w := s.w
				for i := range all {
					steps += all[i].do(&w, s.ground)
				}
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
