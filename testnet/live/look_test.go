package live

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/testnet/look"
)

var keep = flag.Bool("live.keep", false, "keep the pictures that TestStates takes as those that it compares with")

// view is a size of the window and a color scheme.
type view struct {
	width, height int64
	scheme        string
}

var views = []view{{390, 844, "light"}, {390, 844, "dark"}, {1280, 900, "light"}, {1280, 900, "dark"}}

func (v view) of(name string) string {
	return fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(strings.ToLower(name), " ", "-"), v.width, v.scheme)
}

// TestStates shows the page in each of its states, light and dark, at the width of a phone and of a monitor. It must
// match the reference pictures, which were checked by eye, and pass axe-core's rules for WCAG 2.2 AA.
func TestStates(t *testing.T) {
	var s swarm
	began := time.Now()
	st := newStage(t, &s)
	for _, state := range states(&st.play) {
		t.Run(state.name, func(t *testing.T) {
			st.enter(t, &s, state)
			for _, v := range views {
				st.look(t, state, v)
				if (v.width == 390) == (v.scheme == "dark") {
					s.holdToRules(t, v.of(state.name))
				}
			}
		})
	}
	t.Logf("all states took %.0f s, and the browser %.0f s of a core", time.Since(began).Seconds(), st.tab.cpu(t))
}

// enter brings the page into a state.
func (st *stage) enter(t *testing.T, s *swarm, state state) {
	t.Helper()
	address := state.address
	if address == "" {
		address = "/"
	}
	st.show(t, address, &state.scene)
	if state.do != "" {
		s.await(t, "the page is ready", st.tab.has(`document.getElementById("height").textContent !== "–"`))
		st.tab.do(t, "doing what a person does", chromedp.Evaluate[chromedp.Void](state.do+"; 0"))
	}
	s.await(t, "the page is "+state.name, st.tab.reads(state.reads))
	for _, part := range state.scene.parts() {
		s.await(t, "the page shows "+part, st.tab.has(fmt.Sprintf("document.querySelector(%q) !== null", part)))
	}
	if now := &state.scene; now.node != nil && now.status != nil && now.status.Reason == peer.CatchingUp { // it asks every two seconds
		s.await(t, "the page shows the node's figures", st.tab.has(fmt.Sprintf(`document.getElementById("height").textContent === "%d"`, now.node.Height)))
		s.await(t, "the page shows the node's learning curve", st.tab.has(`document.getElementById("curve-words").textContent.includes("mean return")`))
		s.await(t, "the page shows the node's newest generation", st.tab.has(fmt.Sprintf(`document.getElementById("curve-words").textContent.includes("%d")`, now.node.Height)))
	}
}

// parts are selectors of what the front page shows in a scene, each of which comes by itself.
func (now *scene) parts() (list []string) {
	if now.node == nil && now.status == nil || now.crash != "" {
		return nil
	}
	list = append(list, "#curve canvas")
	if now.status == nil {
		return list
	}
	list = append(list, "#mesh .small:not(:empty)")
	switch now.status.Reason {
	case peer.CatchingUp:
	case peer.Searching, peer.NoLeader:
		list = append(list, "#entries li")
	default:
		list = append(list, "#entries li", ".world:not([data-empty])")
	}
	return list
}

// look compares what a person sees with what was kept.
func (st *stage) look(t *testing.T, state state, v view) {
	t.Helper()
	now := look.Shrink(st.picture(t, state, v))
	if *keep {
		name := filepath.Join("testdata", "states", v.of(state.name)+".png")
		var file bytes.Buffer
		if err := look.Write(&file, now); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	d, err := st.compare(t, state, v, now)
	if err != nil {
		t.Errorf("%s looks otherwise than it did: %v\n-live.pictures DIR writes what it looks like; if that is as it should be, -live.keep keeps it", v.of(state.name), err)
	} else if d.By > 9 {
		t.Logf("%s differs by %.1f levels at %v", v.of(state.name), d.By, d.Place)
	}
}

// compare finds how a small picture differs from the one that was kept.
func (st *stage) compare(t *testing.T, state state, v view, now *image.RGBA) (look.Difference, error) {
	t.Helper()
	name := filepath.Join("testdata", "states", v.of(state.name)+".png")
	file, err := os.ReadFile(name)
	if err != nil {
		return look.Difference{}, err
	}
	kept, err := look.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return look.Compare(kept, now)
}

// picture takes a picture of the page, of all of it if the state asks for that.
func (st *stage) picture(t *testing.T, state state, v view) image.Image {
	t.Helper()
	b := st.tab
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}})
	height := v.height
	size := func() {
		call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: height, DeviceScaleFactor: 1})
		if err := settle(b); err != nil {
			t.Fatal(err)
		}
	}
	size()
	if !state.first { // what lies below is drawn once it is in view
		whole, err := ask[int64](b, "document.documentElement.scrollHeight")
		if err != nil {
			t.Fatal(err)
		}
		height = whole
		size()
	}
	fast := true
	data := call(t, b, page.CaptureScreenshot, page.CaptureScreenshotParams{OptimizeForSpeed: &fast}).Data
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, v.of(state.name)+".png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// settle waits until the page has drawn what it was told.
func settle(b *tab) error {
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`new Promise((resolve) => {
		let left = 4;
		const next = () => requestAnimationFrame(() => setTimeout(() => (left-- > 0 ? next() : resolve(left))));
		next();
	})`, chromedp.EvalAwaitPromise))
	return err
}

// call sends the browser's tab a command.
func call[P, R any](t *testing.T, b *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// TestBrokenPage breaks the page as a careless change would. Each time the pictures differ.
func TestBrokenPage(t *testing.T) {
	var s swarm
	st := newStage(t, &s)
	all := states(&st.play)
	helping := all[slices.IndexFunc(all, func(s state) bool { return s.name == "helping" })]
	st.enter(t, &s, helping)
	for _, broken := range []string{
		`.cloud { display: none }`,
		`:root { --accent: #b3261e }`,
		`dl > div { white-space: nowrap; width: 120% }`,
		`.moves p { font-size: 1.2rem }`,
		`#pause { visibility: hidden }`,
		`.small { color: var(--ground) }`,
	} {
		st.tab.do(t, "breaking the page", chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
			globalThis.broken ??= new CSSStyleSheet();
			if (!document.adoptedStyleSheets.includes(broken)) document.adoptedStyleSheets.push(broken);
			broken.replaceSync(%q);
		}; 0`, broken)))
		for _, v := range []view{views[0], views[2]} {
			if _, err := st.compare(t, helping, v, look.Shrink(st.picture(t, helping, v))); err == nil {
				t.Errorf("with %s nothing differs in %s", broken, v.of(helping.name))
			}
		}
	}
}
