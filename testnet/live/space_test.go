package live

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/examples/tumble"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/node/film"
	viewer "github.com/evoswarm/evoswarm/node/watch"
	"github.com/evoswarm/evoswarm/web"
)

// Browsers of the tests have no GPU: they draw WebGL with their processor if they are told to. The page asks
// for a GPU, so withGPU takes that out of its question; withoutGPU has none at all. Both note what is asked
// for.
const (
	withGPU = `{
	globalThis.graphics = [];
	globalThis.drawn = 0; // by WebGL
	const draw = WebGL2RenderingContext.prototype.drawElementsInstanced;
	WebGL2RenderingContext.prototype.drawElementsInstanced = function (...given) {
		drawn++;
		return draw.apply(this, given);
	};
	const make = HTMLCanvasElement.prototype.getContext;
	HTMLCanvasElement.prototype.getContext = function (kind, wanted) {
		const context = make.call(this, kind, kind === "webgl2" ? { ...wanted, failIfMajorPerformanceCaveat: false } : wanted);
		if (kind === "webgl2" && context && !graphics.includes(context)) graphics.push(context);
		return context;
	};
}`
	withoutGPU = `{
	globalThis.refused = 0;
	const make = HTMLCanvasElement.prototype.getContext;
	HTMLCanvasElement.prototype.getContext = function (kind, wanted) {
		if (!/webgl/.test(kind)) return make.call(this, kind, wanted);
		refused++;
		return null;
	};
}`
	// What a page logs as an error, and what breaks its policy.
	noteTrouble = `
	globalThis.trouble = [];
	addEventListener("error", (e) => trouble.push(String(e.message)));
	addEventListener("unhandledrejection", (e) => trouble.push(String(e.reason)));
	document.addEventListener("securitypolicyviolation", (e) => trouble.push(e.violatedDirective + " " + e.blockedURI));
	console.error = (...words) => trouble.push(words.join(" "));`
)

var drawsWithoutGPU = []chromedp.ExecAllocatorOption{chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("disable-gpu", false)}

// TestSpace opens the page of evonode watch with a world in space, examples/tumble, whose program is built
// for the test, and sees it move, with WebGL, when the GPU is lost, and when it is back; and in a browser
// without WebGL.
func TestSpace(t *testing.T) {
	s := &swarm{}
	address := serveTumble(t)
	b := s.newTab(t, address)
	b.flags = drawsWithoutGPU
	b.url = "about:blank"
	b.open(t)
	t.Run("with WebGL", func(t *testing.T) {
		b.enterSpace(t, address, withGPU)
		s.await(t, "the staff is seen", b.seesTumble(t, film.Light))
		b.picture(t, "space-light")
		moves(t, s, b)
		b.checkGPU(t, true)
		if n, err := ask[int](b, "graphics.length"); err != nil || n != 1 {
			t.Errorf("%d WebGL contexts, %v, want 1", n, err)
		}
		b.checkTasks(t)

		b.do(t, "taking the GPU away", chromedp.Evaluate[chromedp.Void](`globalThis.taken = graphics[0].getExtension("WEBGL_lose_context"); taken.loseContext()`))
		s.await(t, "the staff is seen without it", b.seesTumble(t, film.Light))
		moves(t, s, b)
		b.checkGPU(t, false)
		b.picture(t, "space-lost")
		b.do(t, "giving the GPU back", chromedp.Evaluate[chromedp.Void](`taken.restoreContext()`))
		s.await(t, "the GPU is there", b.has("!graphics[0].isContextLost()"))
		s.await(t, "the staff is seen with it", b.seesTumble(t, film.Light))
		moves(t, s, b)
		b.checkGPU(t, true)

		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		s.await(t, "the staff is seen in the dark", b.seesTumble(t, film.Dark))
		b.picture(t, "space-dark")
		call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 900, Height: 700, DeviceScaleFactor: 2})
		s.await(t, "there are twice as many pixels", b.has(`{ const c = document.getElementById("world"); c.width === 2 * c.clientWidth && graphics[0].drawingBufferWidth === c.width }`))
		s.await(t, "the staff is seen in them", b.seesTumble(t, film.Dark))
		call(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
		b.checkQuiet(t)
	})
	t.Run("without WebGL", func(t *testing.T) {
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		b.enterSpace(t, address, withoutGPU)
		s.await(t, "the staff is seen", b.seesTumble(t, film.Light))
		b.picture(t, "space-outlines")
		moves(t, s, b)
		if n, err := ask[int](b, "refused"); err != nil || n == 0 {
			t.Errorf("the page asked for WebGL %d times, %v", n, err)
		}
		b.checkTasks(t)
		b.checkQuiet(t)
	})
	t.Run("in Firefox", func(t *testing.T) {
		f := newFirefox(t)
		f.open(t, address)
		s.await(t, "Firefox draws the staff", func() string {
			data, err := f.text(`document.getElementById("world").toDataURL("image/png").replace(/.*,/, "")`)
			if err != nil {
				return err.Error()
			}
			picture, err := base64.StdEncoding.DecodeString(data)
			if err != nil {
				return err.Error()
			}
			pixels, _ := histogram(t, picture)
			if missing := tumbleMissing(pixels, film.Light, 4); len(missing) > 0 {
				return fmt.Sprintf("no %v", missing)
			}
			return ""
		})
	})
	t.Run("without motion", func(t *testing.T) {
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
		b.enterSpace(t, address, withGPU)
		s.await(t, "the staff is seen", b.seesTumble(t, film.Light))
		before := b.canvas(t)
		time.Sleep(500 * time.Millisecond)
		if !bytes.Equal(before, b.canvas(t)) {
			t.Error("it moves")
		}
	})
}

// enterSpace opens the page with a script in front of its own.
func (b *tab) enterSpace(t *testing.T, address, script string) {
	t.Helper()
	added := call(t, b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script + noteTrouble + watchTasks})
	b.do(t, "opening "+address, chromedp.Navigate(address))
	call(t, b, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: added.Identifier})
}

// seesTumble reports what is missing of the world in the picture: floor, staff, its end and its middle, in
// shades of their colors.
func (b *tab) seesTumble(t *testing.T, theme *film.Theme) func() string {
	return func() string {
		pixels, size := histogram(t, b.canvas(t))
		if missing := tumbleMissing(pixels, theme, 4); len(missing) > 0 || max(2*size.X-3*size.Y, 3*size.Y-2*size.X) > 3 {
			return fmt.Sprintf("no %v on a canvas of %v", missing, size)
		}
		return ""
	}
}

// tumbleMissing lists what is not among the pixels of a picture, whose colors may be that much off.
func tumbleMissing(pixels map[color.RGBA]int, theme *film.Theme, off int) (missing []envs.Role) {
	for role, least := range map[envs.Role]int{envs.Terrain: 2000, envs.Body: 300, envs.Accent: 100, envs.Joint: 50} { //lint:sorted each by itself
		n := 0
		for c, count := range pixels {
			if c.A == 255 && shaded(c, theme.Roles[role], off) {
				n += count
			}
		}
		if n < least {
			missing = append(missing, role)
		}
	}
	return missing
}

// shaded reports whether light makes c of base, but for so much: it lies between base with white and base with black.
func shaded(c, base color.RGBA, most int) bool {
	for k := -45; k <= 30; k++ {
		mix := func(x uint8) int {
			if k > 0 {
				return int(x) + (255-int(x))*k/100
			}
			return int(x) + int(x)*k/100
		}
		off := func(x, y uint8) int { return max(int(x)-mix(y), mix(y)-int(x)) }
		if max(off(c.R, base.R), off(c.G, base.G), off(c.B, base.B)) <= most {
			return true
		}
	}
	return false
}

func moves(t *testing.T, s *swarm, b *tab) {
	t.Helper()
	first := b.canvas(t)
	s.await(t, "the picture moves", func() string {
		if bytes.Equal(b.canvas(t), first) {
			return "it is still"
		}
		return ""
	})
}

// checkGPU holds that the picture, which moves, is drawn by WebGL, or is not.
func (b *tab) checkGPU(t *testing.T, want bool) {
	t.Helper()
	n, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`new Promise((resolve) => {
		const before = drawn;
		setTimeout(() => resolve(drawn - before), 500);
	})`, chromedp.EvalAwaitPromise))
	if err != nil || (n > 0) != want {
		t.Errorf("WebGL draws %d times in half a second, %v; want some: %v", n, err, want)
	}
}

// checkTasks holds the page's thread to short tasks.
func (b *tab) checkTasks(t *testing.T) {
	t.Helper()
	ms, err := ask[float64](b, "longestTask")
	if longest := time.Duration(ms * float64(time.Millisecond)); err != nil || longest > longTask {
		t.Errorf("the longest task on the page's thread took %v, %v", longest, err)
	} else {
		t.Logf("the longest task on the page's thread took %v", longest)
	}
}

// checkQuiet holds that the page logged no error and says nothing of one.
func (b *tab) checkQuiet(t *testing.T) {
	t.Helper()
	if trouble, err := ask[[]string](b, "trouble"); err != nil || len(trouble) > 0 {
		t.Errorf("the page logged %q, %v", trouble, err)
	}
	if hidden, err := ask[bool](b, `document.getElementById("problem").hidden`); err != nil || !hidden {
		t.Errorf("the page tells of a problem: %s", b.describe())
	}
}

// serveTumble serves the page of evonode watch with an untrained policy of examples/tumble.
func serveTumble(t *testing.T) string {
	t.Helper()
	if !web.Built() {
		t.Fatal("the page must be built before: make page")
	}
	method, err := evolve.Find("dises")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	setup := rollout.Setup{EnvID: tumble.Spec.ID, Policy: policy.Spec{Kind: "linear", Head: "clip"}, Strategy: method.Name, Params: params, Population: 8}
	plan, err := rollout.NewPlan(setup)
	if err != nil {
		t.Fatal(err)
	}
	state, err := plan.Initial(1).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	told, err := rollout.MarshalSetup(setup)
	if err != nil {
		t.Fatal(err)
	}
	program := tumbleWorker(t)
	handler := viewer.NewHandler(&web.Policy{World: tumble.Spec.Title, Env: tumble.Spec.ID, Strategy: method.Name, Run: "bafyreia", Threshold: tumble.Spec.SolvedReturn,
		Bytes: map[string][]byte{"setup": told, "state": state}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/assets/compute-") {
			w.Header().Set("Content-Type", "application/wasm")
			w.Write(program)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// tumbleWorker is the worker's program with examples/tumble in it.
func tumbleWorker(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	more, replaced := filepath.Join(dir, "tumble.go"), filepath.Join(dir, "overlay.json")
	here, err := filepath.Abs(filepath.Join(root, "wasm", "worker", "tumble.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: more}})
	if err == nil {
		err = os.WriteFile(replaced, overlay, 0o600)
	}
	if err == nil {
		err = os.WriteFile(more, []byte("package main\n\nimport _ \"github.com/evoswarm/evoswarm/examples/tumble\"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	path, err := build("tumble.wasm", "./wasm/worker", "-overlay", replaced, "-ldflags=-s -w", "GOOS=js", "GOARCH=wasm")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestSpaceEverywhere shows a world in space wherever the volunteer page draws: on the front page, where it
// is also filmed, on the whole screen, and in a frame. The page of a flat world does not load what draws
// them.
func TestSpaceEverywhere(t *testing.T) {
	var s swarm
	st := newStage(t, &s)
	st.tab.close()
	st.tab.flags = append(st.tab.flags, drawsWithoutGPU...)
	st.tab.open(t)
	call(t, st.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: withGPU + noteTrouble})
	now := scene{phase: "running", status: &st.play.Status, ways: st.play.Ways, node: &st.play.Node}
	loaded := `performance.getEntriesByType("resource").some((r) => /assets\/space-/.test(r.name))`
	t.Run("flat", func(t *testing.T) {
		st.show(t, "/", &now)
		s.await(t, "the lander is drawn", st.tab.reads("Policy of generation"))
		if err := settle(st.tab); err != nil {
			t.Fatal(err)
		}
		if there, err := ask[bool](st.tab, loaded); err != nil || there {
			t.Errorf("the page of a flat world loads what draws those in space: %v, %v", there, err)
		}
	})
	st.play.Reel = tumbleReel(t, 120)
	t.Run("front page", func(t *testing.T) {
		st.show(t, "/", &now)
		s.await(t, "the staff is seen", st.tab.seesTumble(t, film.Light))
		if there, err := ask[bool](st.tab, loaded); err != nil || !there {
			t.Errorf("what draws it is not there: %v, %v", there, err)
		}
		st.tab.picture(t, "space-front")
		st.tab.do(t, "filming", chromedp.Evaluate[chromedp.Void](`document.getElementById("film").click()`))
		s.await(t, "the page records", st.tab.reads("Recording."))
		s.await(t, "the film is saved", st.tab.reads("The film is saved."))
		name := s.downloaded(t, ".webm")
		if info, err := os.Stat(name); err != nil || info.Size() < 10_000 {
			t.Errorf("the film is %v, %v", info, err)
		}
		if lost, err := ask[string](st.tab, "String(graphics.map((g) => g.isContextLost()))"); err != nil || lost != "false,true" {
			t.Errorf("of the graphics of page and film %s are closed, %v", lost, err)
		}
		st.tab.checkQuiet(t)
		st.tab.do(t, "playing the film", chromedp.Navigate((&url.URL{Scheme: "file", Path: name}).String()))
		s.await(t, "the film shows the staff", func() string {
			shot, err := chromedp.Run(st.tab.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				return err.Error()
			}
			pixels, _ := histogram(t, shot)
			if missing := tumbleMissing(pixels, film.Light, 16); len(missing) > 0 {
				return fmt.Sprintf("no %v", missing)
			}
			return ""
		})
	})
	t.Run("whole screen", func(t *testing.T) {
		st.show(t, "/?fullscreen", &now)
		s.await(t, "the staff fills the screen", func() string {
			pixels, size := histogram(t, st.tab.canvas(t))
			n := 0
			for c, count := range pixels {
				if c.A == 255 && shaded(c, film.Light.Roles[envs.Terrain], 4) {
					n += count
				}
			}
			if size.X < 1000 || n < size.X*size.Y/4 {
				return fmt.Sprintf("%d pixels of the floor in %v", n, size)
			}
			return ""
		})
		st.tab.picture(t, "space-screen")
	})
	t.Run("frame", func(t *testing.T) {
		st.show(t, "/?embed", &now)
		s.await(t, "the frame asks", st.tab.has(`!document.getElementById("consent").hidden`))
		st.tab.do(t, "agreeing", chromedp.Evaluate[chromedp.Void](`document.getElementById("agree").click()`))
		s.await(t, "the staff is seen", st.tab.seesTumble(t, film.Light))
	})
}

// TestSpaceAsFilmed holds the page's painters to that of films, which is another program: one scene with
// every kind of solid is the same picture, but for edges; as outlines nearly.
func TestSpaceAsFilmed(t *testing.T) {
	var s swarm
	st := newStage(t, &s)
	st.tab.close()
	st.tab.flags = append(st.tab.flags, drawsWithoutGPU...)
	st.tab.open(t)
	var still envs.Scene
	still.Look(envs.Bounds{MaxX: 3, MaxY: 2}, envs.Camera{Target: [3]float64{100, 50, 0.6}, Distance: 4, Azimuth: 60, Elevation: -30})
	still.Floor(envs.Terrain, envs.Ground, 0.5, 0.1, 0.2, 0)
	still.Capsule(envs.Body, 0.2, [3]float64{99.5, 49.6, 0.3}, [3]float64{100.3, 50.2, 1.1})
	still.Sphere(envs.Accent, 0.3, [3]float64{100.3, 50.2, 1.1})
	still.Cylinder(envs.Flame, 0.25, [3]float64{100, 51, 0}, [3]float64{100.2, 51, 0.6})
	still.Box(envs.Goal, [3]float64{100.6, 49.2, 0.2}, [3]float64{0.3, 0.1, 0}, [3]float64{-0.1, 0.3, 0}, [3]float64{0, 0, 0.2})
	data, err := json.Marshal(map[string]any{"fps": 50, "frames": []any{map[string]any{"scene": &still, "gen": 7, "candidate": false, "step": 0, "return": 0, "over": true}}})
	if err != nil {
		t.Fatal(err)
	}
	st.play.Reel = data
	for _, c := range []struct {
		name, script string
		mean, far    float64 // levels from 0 to 255; share of pixels that are far off
	}{{"with WebGL", withGPU, 1, 0.01}, {"as outlines", withoutGPU, 5, 0.05}} {
		t.Run(c.name, func(t *testing.T) {
			added := call(t, st.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: c.script})
			st.show(t, "/", &scene{phase: "running", status: &st.play.Status, ways: st.play.Ways, node: &st.play.Node})
			s.await(t, "it is drawn", func() string {
				if n := colors(t, st.tab.canvas(t)); n < 5 {
					return fmt.Sprintf("it has %d colors", n)
				}
				return ""
			})
			if err := settle(st.tab); err != nil {
				t.Fatal(err)
			}
			mean, far := st.tab.unlike(t, &still)
			t.Logf("colors are %.2f levels off, and %.2f %% of pixels by more than 24", mean, 100*far)
			if mean > c.mean || far > c.far {
				t.Errorf("want at most %v levels, and %v %%", c.mean, 100*c.far)
			}
			call(t, st.tab, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: added.Identifier})
		})
	}
}

// unlike compares the canvas with what a film shows of a scene: how far colors are off, and the share of
// pixels that are by more than 24 levels.
func (b *tab) unlike(t *testing.T, s *envs.Scene) (mean, far float64) {
	t.Helper()
	drawn, err := png.Decode(bytes.NewReader(b.canvas(t)))
	if err != nil {
		t.Fatal(err)
	}
	size := drawn.Bounds().Size()
	caption := film.SizeFor(envs.Bounds{MaxX: float64(size.X), MaxY: 100}, size.X, 100).Y - 100
	painter, err := film.NewPainter(size.Add(image.Pt(0, caption)), film.Light)
	if err != nil {
		t.Fatal(err)
	}
	filmed := painter.Paint(s, "", "")
	page := image.NewRGBA(drawn.Bounds())
	draw.Draw(page, page.Rect, image.NewUniform(film.Light.Paper), image.Point{}, draw.Src)
	draw.Draw(page, page.Rect, drawn, image.Point{}, draw.Over)
	for y := range size.Y {
		for x := range size.X {
			a, b := page.RGBAAt(x, y), filmed.RGBAAt(x, y)
			off := 0
			for _, d := range [3]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
				off = max(off, d, -d)
			}
			mean += float64(off)
			if off > 24 {
				far++
			}
		}
	}
	n := float64(size.X * size.Y)
	return mean / n, far / n
}

// TestSpaceIsKept has the service worker keep what draws worlds in space once a page asked for it, and not before.
func TestSpaceIsKept(t *testing.T) {
	var s swarm
	server := httptest.NewServer(web.Handler())
	t.Cleanup(server.Close)
	b := s.newTab(t, server.URL+"/")
	b.open(t)
	kept := `(async () => {
		const space = new URL(JSON.parse(document.getElementById("assets").textContent).space, document.baseURI).href;
		return (await caches.match(space)) !== undefined;
	})()`
	await := func(expression string) bool {
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if !await(`navigator.serviceWorker.register("offline.js").then(() => navigator.serviceWorker.ready).then(() => true)`) {
		t.Fatal("there is no service worker")
	}
	b.do(t, "opening the page again", chromedp.Navigate(server.URL+"/")) // with the service worker
	if !await("Promise.resolve(navigator.serviceWorker.controller !== null)") || await(kept) {
		t.Error("it is kept at once, or no service worker keeps anything")
	}
	const load = `import(new URL(JSON.parse(document.getElementById("assets").textContent).space, document.baseURI).href).then((m) => typeof m.open === "function")`
	if !await(load) {
		t.Error("it is no module that opens painters")
	}
	s.await(t, "it is kept", func() string {
		if !await(kept) {
			return "it is not"
		}
		return ""
	})
}

// tumbleReel is an episode of examples/tumble with random actions, as a worker of the page gives it.
func tumbleReel(t *testing.T, steps int) json.RawMessage {
	t.Helper()
	type frame struct {
		Scene     envs.Scene `json:"scene"`
		Gen       uint64     `json:"gen"`
		Candidate bool       `json:"candidate"`
		Step      int        `json:"step"`
		Return    float64    `json:"return"`
		Over      bool       `json:"over"`
	}
	reel := struct {
		Frames []frame `json:"frames"`
		FPS    int     `json:"fps"`
	}{FPS: tumble.Spec.FPS}
	player := rollout.NewPlayer(rollout.Plan{Env: tumble.Spec})
	for player.Start(nil, 1); ; player.Step() {
		f := frame{Gen: 7, Step: player.Steps(), Return: player.Return(), Over: player.Steps() == steps}
		player.Draw(&f.Scene)
		reel.Frames = append(reel.Frames, f)
		if f.Over {
			break
		}
	}
	data, err := json.Marshal(reel)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
