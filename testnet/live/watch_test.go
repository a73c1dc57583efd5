package live

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/film"
)

// TestWatch trains without a swarm, opens the page of evonode watch in a browser, and sees the policy play.
func TestWatch(t *testing.T) {
	s := &swarm{}
	program := evonode(t)
	log := filepath.Join(t.TempDir(), "run.seedlog")
	if out, err := exec.Command(program, "train", "CartPole-v1", "--strategy", "dises", "--seed", "7", "-o", log).CombinedOutput(); err != nil {
		t.Fatalf("training: %v\n%s", err, out)
	}
	w := startWatch(t, program, log)
	b := s.newTab(t, w.Page)
	b.open(t)
	s.await(t, "the page says what it shows", func() string {
		text := b.describe()
		for _, want := range []string{w.Env, "Cart Pole", "dises", fmt.Sprintf("policy of generation %d", w.Height), "step ", "return ", "475"} {
			if !strings.Contains(text, want) {
				return fmt.Sprintf("%q is not in %s", want, text)
			}
		}
		return ""
	})
	first := b.canvas(t)
	if n := colors(t, first); n < 4 {
		t.Errorf("the canvas has %d colors, want those of a cart, a pole, a joint and the ground", n)
	}
	s.await(t, "the picture moves", func() string {
		if bytes.Equal(b.canvas(t), first) {
			return "the picture pauses"
		}
		return ""
	})
	s.await(t, "episodes are counted", func() string {
		if n := b.number("episodes"); n == 0 {
			return "none was seen to its end: " + b.describe()
		}
		return ""
	})
	if *watchShot != "" {
		shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(*watchShot, shot, 0o644)
		}
		if err != nil {
			t.Errorf("the picture of the page: %v", err)
		}
	}

	// The button pauses the picture.
	b.do(t, "pressing the button", chromedp.Evaluate[chromedp.Void](`document.getElementById("play").click()`))
	s.await(t, "the picture pauses", func() string {
		before := b.canvas(t)
		time.Sleep(300 * time.Millisecond)
		if !bytes.Equal(before, b.canvas(t)) {
			return "it moves"
		}
		return ""
	})

	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-w.ended:
		if err != nil {
			t.Errorf("after Ctrl-C: %v\n%s", err, w.errors)
		}
	case <-time.After(patience):
		t.Error("Ctrl-C does not end it")
	}
}

// TestWatchEarlier shows the untrained policy of the same log: another picture of another height.
func TestWatchEarlier(t *testing.T) {
	s := &swarm{}
	program := evonode(t)
	log := filepath.Join(t.TempDir(), "run.seedlog")
	if out, err := exec.Command(program, "train", "Pendulum-v1", "--until", "evals=64", "-o", log).CombinedOutput(); err != nil {
		t.Fatalf("training: %v\n%s", err, out)
	}
	w := startWatch(t, program, log, "--at", "0")
	b := s.newTab(t, w.Page)
	b.open(t)
	s.await(t, "the page says what it shows", func() string {
		if text := b.describe(); w.Height != 0 || !strings.Contains(text, "Pendulum · policy of generation 0 · step") {
			return text
		}
		return ""
	})
}

// TestWatchWorlds shows environments that are more than lines: their terrain, legs and rays have the colors
// of the light theme, on a canvas with the proportions of the environment.
func TestWatchWorlds(t *testing.T) {
	for _, c := range []struct {
		env   string
		roles []envs.Role
	}{
		{"LunarLander-v3", []envs.Role{envs.Terrain, envs.Body, envs.Joint, envs.Goal}},
		{"BipedalWalker-v3", []envs.Role{envs.Terrain, envs.Body, envs.Joint, envs.Accent}},
	} {
		s := &swarm{}
		program := evonode(t)
		log := filepath.Join(t.TempDir(), "run.seedlog")
		if out, err := exec.Command(program, "train", c.env, "--until", "evals=64", "-o", log).CombinedOutput(); err != nil {
			t.Fatalf("training: %v\n%s", err, out)
		}
		b := s.newTab(t, startWatch(t, program, log).Page)
		b.open(t)
		missing := slices.Clone(c.roles) // from every frame so far
		s.await(t, "all parts of "+c.env+" are seen", func() string {
			pixels, size := histogram(t, b.canvas(t))
			missing = slices.DeleteFunc(missing, func(r envs.Role) bool { return pixels[film.Light.Roles[r]] >= 10 })
			if off := 2*size.X - 3*size.Y; len(missing) > 0 || max(off, -off) > 3 {
				return fmt.Sprintf("no %v on a canvas of %v", missing, size)
			}
			return ""
		})
		b.close()
	}
}

// watch is a running evonode watch.
type watch struct {
	Page   string `json:"page"`
	Env    string `json:"env"`
	Height uint64 `json:"height"`
	cmd    *exec.Cmd
	errors *bytes.Buffer
	ended  chan error
}

// startWatch starts evonode watch on a log and waits until it says where its page is.
func startWatch(t *testing.T, program, log string, args ...string) *watch {
	t.Helper()
	w := &watch{errors: new(bytes.Buffer), ended: make(chan error, 1)}
	w.cmd = exec.Command(program, append([]string{"watch", log, "--json"}, args...)...)
	w.cmd.Stderr = w.errors
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	if err := json.NewDecoder(out).Decode(w); err != nil || !strings.HasPrefix(w.Page, "http://127.0.0.1:") {
		w.cmd.Process.Kill()
		t.Fatalf("evonode watch says %+v, %v\n%s", w, err, w.errors)
	}
	go func() { w.ended <- w.cmd.Wait() }()
	return w
}

// canvas returns what is drawn, as PNG.
func (b *tab) canvas(t *testing.T) []byte {
	t.Helper()
	url, err := ask[string](b, `document.getElementById("world").toDataURL("image/png")`)
	if err != nil {
		t.Fatalf("taking the canvas: %v", err)
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	if err != nil {
		t.Fatalf("taking the canvas: %v", err)
	}
	return data
}

// colors counts the colors that at least a hundred pixels have.
func colors(t *testing.T, data []byte) (n int) {
	t.Helper()
	pixels, _ := histogram(t, data)
	for _, count := range pixels {
		if count >= 100 {
			n++
		}
	}
	return n
}

// histogram counts the pixels of each color of a PNG, and tells its size.
func histogram(t *testing.T, data []byte) (pixels map[color.RGBA]int, size image.Point) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("the canvas: %v", err)
	}
	pixels = map[color.RGBA]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			pixels[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return pixels, img.Bounds().Size()
}
