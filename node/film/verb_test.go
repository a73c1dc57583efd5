package film

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
	_ "github.com/evoswarm/evoswarm/examples/tumble" // in space
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/node/verb"
)

// program has the verb film alone.
var program = &verb.Program{Name: "evonode", Groups: []verb.Group{{Verbs: []*verb.Verb{Verb()}}}}

// filmed runs evonode film and fails the test unless it ends with that status.
func filmed(t testing.TB, ctx context.Context, status int, args ...string) (stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := program.Main(ctx, append([]string{"film"}, args...), &verb.IO{Out: &out, Err: &errs}); got != status {
		t.Fatalf("film %q: status %d, want %d: %s", args, got, status, errs.String())
	}
	return errs.String()
}

func init() { envs.Register(envtest.Bare()) }

// An environment that cannot be drawn is refused before anything is written.
func TestFilmNeedsADrawing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "film.gif")
	if got := filmed(t, t.Context(), 1, "Bare-v0", "-o", name); !strings.Contains(got, "Bare-v0 cannot be drawn, it has no Draw\nhint: implement envs.Drawer") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there: %v", name, err)
	}
}

// In every environment each frame has the colors of the scene's shapes where the scene has them.
func TestFilmShowsTheScene(t *testing.T) {
	const seed = 4
	for _, spec := range envs.All() {
		if spec.CanDraw() != nil {
			continue
		}
		dir := filepath.Join(t.TempDir(), "frames")
		filmed(t, t.Context(), 0, spec.ID, "-o", dir+"/", "--seed", "4", "--fps", "2")
		shot, err := newShoot(t.Context(), &cast{plan: rollout.Plan{Env: spec}, seed: seed}, SizeFor(spec.View, defaultWidth, defaultHeight), Light, 2)
		if err != nil {
			t.Fatal(err)
		}
		var scene envs.Scene
		frame, seen := 0, 0
		for shot.player.Start(nil, seed); ; shot.player.Step() {
			if shot.shown(shot.player.Steps()) {
				shot.player.Draw(&scene)
				if lookAt(t, filepath.Join(dir, fmt.Sprintf("%05d.png", frame)), &scene) {
					seen++
				}
				frame++
			}
			if shot.player.Over() {
				break
			}
		}
		if frame != shot.frames || seen < 2 {
			t.Errorf("%s: %d frames, want %d; in %d of them is something to see", spec.ID, frame, shot.frames, seen)
		}
	}
}

// lookAt checks the color at the middle of the last shape, which is filled and hidden by nothing, and reports
// whether it is in view.
func lookAt(t *testing.T, path string, scene *envs.Scene) bool {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	img, err := png.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	if scene.InSpace() {
		return lookInto(t, filepath.Base(path), img, scene)
	}
	shape := scene.Shapes[len(scene.Shapes)-1]
	if shape.Fill == "" {
		t.Fatalf("the last shape is a %s", shape.Kind)
	}
	var x, y float64
	for i := 0; i < len(shape.Points); i += 2 {
		x += shape.Points[i] * 2 / float64(len(shape.Points))
		y += shape.Points[i+1] * 2 / float64(len(shape.Points))
	}
	b := scene.Bounds
	if x <= b.MinX || x >= b.MaxX || y <= b.MinY || y >= b.MaxY {
		return false
	}
	scale := float64(img.Bounds().Dx()) / (b.MaxX - b.MinX)
	px, py := int((x-b.MinX)*scale), int((b.MaxY-y)*scale)
	r, g, bl, _ := img.At(px, py).RGBA()
	want := Light.Roles[shape.Fill]
	if got := [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8)}; got != [3]uint8{want.R, want.G, want.B} {
		t.Errorf("%s: pixel %d, %d of %s is %v, want %v", filepath.Base(path), px, py, shape.Fill, got, want)
	}
	return true
}

// lookInto checks that a scene in space is seen: of its solids whose middle is in the picture at least one
// has a shade of its color there, and none a color that nothing has.
func lookInto(t *testing.T, name string, img image.Image, scene *envs.Scene) bool {
	t.Helper()
	size := img.Bounds().Size()
	size.Y -= captionHeight(size.X)
	l := newLens(&scene.Camera, size)
	inView, found := 0, 0
	for i := range scene.Shapes {
		sh := &scene.Shapes[i]
		if sh.Kind == envs.Floor {
			continue
		}
		s := newSolid(sh, rgb{})
		v := s.a.plus(s.b).times(0.5).minus(l.eye)
		px := int(l.cx + v.dot(l.right)/v.dot(l.forth)*l.focal)
		py := int(l.cy - v.dot(l.over)/v.dot(l.forth)*l.focal)
		if !(image.Point{X: px, Y: py}.In(image.Rectangle{Max: size})) {
			continue
		}
		inView++
		if shadeOf(color.RGBAModel.Convert(img.At(px, py)).(color.RGBA), Light.Roles[sh.Fill]) {
			found++
		}
	}
	if inView > 0 && found == 0 {
		t.Errorf("%s: none of %d solids is seen where it is", name, inView)
	}
	return found > 0
}

// A film takes as long as the episode in its world, whatever the rate of its frames, and a second more.
func TestFilmTime(t *testing.T) {
	for _, c := range []struct {
		env    string
		flags  []string
		frames int
		time   int // hundredths of a second
	}{
		{"CartPole-v1", nil, 21, 140}, // 20 steps
		{"CartPole-v1", []string{"--fps", "25"}, 11, 140},
		{"CartPole-v1", []string{"--fps", "1"}, 2, 140},
		{"MountainCar-v0", nil, 201, 767}, // 200 steps, 30 in a second
		{"MountainCar-v0", []string{"--fps", "7"}, 48, 767},
	} {
		path := filepath.Join(t.TempDir(), "film.gif")
		filmed(t, t.Context(), 0, append([]string{c.env, "-o", path, "--seed", "3"}, c.flags...)...)
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		g, err := gif.DecodeAll(in)
		if err != nil {
			t.Fatal(err)
		}
		took := 0
		for _, d := range g.Delay {
			took += d
		}
		if len(g.Image) != c.frames || took != c.time {
			t.Errorf("%s %q: %d frames in %d hundredths of a second, want %d in %d", c.env, c.flags, len(g.Image), took, c.frames, c.time)
		}
	}
}

// What was there before stays until the film is whole, and nothing else is left.
func TestFilmInterrupted(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, name := range []string{"film.gif", "film.png", "frames/"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			path += "/"
		} else if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		if said := filmed(t, stopped, 1, "CartPole-v1", "-o", path); !strings.Contains(said, "interrupted") {
			t.Errorf("%s: it said %q", name, said)
		}
		// The same in the middle of it.
		c := &cast{plan: rollout.Plan{Env: world(t, "CartPole-v1")}}
		shot, err := newShoot(t.Context(), c, SizeFor(c.plan.Env.View, defaultWidth, defaultHeight), Light, 50)
		if err != nil {
			t.Fatal(err)
		}
		to, err := (&flags{out: path}).target()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = to.write(func(w Writer) error {
			return shot.record(ctx, (&verb.IO{Err: cancelling{cancel}, Terminal: true}).Line(false), w)
		}, shot.frames, Light, &shot.first)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", name, err, context.Canceled)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") && len(left) != 0 || len(left) > 1 {
			t.Errorf("%s: %d files are left", name, len(left))
		}
		if data, err := os.ReadFile(path); !strings.HasSuffix(name, "/") && (err != nil || string(data) != "before") {
			t.Errorf("%s: it is now %q, %v", name, data, err)
		}
	}
}

// canceling ends the work as soon as something is said.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return len(b), nil
}

func world(t testing.TB, id string) *envs.Spec {
	t.Helper()
	spec, err := envs.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
