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
		case !on || line == "":
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

func (a *act) do(w *room, ground *land) int {
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

// sceneNames returns the names of all recorded scenes of a kind.
func sceneNames(tb testing.TB, kind string) []string {
	tb.Helper()
	data, err := os.ReadFile(*scenesFile)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(string(data), "\n") {
		if name, ok := strings.CutPrefix(line, "scene "); ok && strings.TrimRight(name, "0123456789") == kind {
			names = append(names, name)
		}
	}
	return names
}

// BenchmarkStep replays the recorded scenes of each kind, without their rays. To compare with the C++ engine,
// run `testdata/record.sh bench lander 60`, and this with `-scenes` set to the output of `testdata/record.sh
// lander 0 60`.
func BenchmarkStep(b *testing.B) {
	for _, kind := range []string{"fall", "bullet", "hinge", "lander", "walker", "hardcore"} {
		var scenes []scene
		var plays [][]act
		for _, name := range sceneNames(b, kind) {
			build, play := recorded(b, name)
			var s scene
			for _, line := range build {
				if err := s.do(line); err != nil {
					b.Fatal(err)
				}
			}
			scenes = append(scenes, s)
			plays = append(plays, acts(b, play))
		}
		if len(scenes) == 0 {
			continue
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				for n := range scenes {
					w := scenes[n].w
					for i := range plays[n] {
						steps += plays[n][i].do(&w, &scenes[n].ground)
					}
				}
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
