package live

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// TestReasonsHaveStates: whatever a peer says of why it does what it does, TestStates looks at the page that says so.
func TestReasonsHaveStates(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "internal", "peer", "status.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[peer.Reason]bool{peer.NoRun: true} // which is a phase of the tab
	for _, s := range states(&recording{Status: peer.Status{Reason: peer.Evaluating}}) {
		if s.scene.status != nil {
			seen[s.scene.status.Reason] = true
		}
	}
	reasons := regexp.MustCompile(`\bReason += "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(reasons) < 13 {
		t.Fatalf("%d reasons were found", len(reasons))
	}
	for _, r := range reasons {
		if !seen[peer.Reason(r[1])] {
			t.Errorf("no state of the page is that of a peer whose reason is %s", r[1])
		}
	}
}

// TestKeyboard: the Tab key reaches everything that can be pressed, in the order in which it is read, and one sees
// where one is. With reduced motion the drawing is paused, and there is no confetti.
func TestKeyboard(t *testing.T) {
	var s swarm
	st := newStage(t, &s)
	b := st.tab
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
	all := states(&st.play)
	at := func(name string) state {
		return all[slices.IndexFunc(all, func(s state) bool { return s.name == name })]
	}
	st.enter(t, &s, at("helping"))
	s.await(t, "the drawing is paused", b.has(`document.getElementById("play").ariaPressed === "false"`))
	wanted, err := ask[[]string](b, `[...document.querySelectorAll("a[href], button:not(:disabled), input, summary, [tabindex='0']")]
		.filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => (e.dataset.number = String(globalThis.numbered = (globalThis.numbered ?? 0) + 1)))`)
	if err != nil || len(wanted) < 20 {
		t.Fatalf("%v, %v", wanted, err)
	}
	var got []string
	for range 3 * len(wanted) { // a field for a time has several stops
		b.do(t, "pressing Tab", chromedp.KeyEvent(kb.Tab))
		focus, err := ask[string](b, `(() => {
			const e = document.activeElement;
			return (e.dataset.number ?? "") + " " + (e.tagName === "BODY" ? "" : getComputedStyle(e).outlineStyle);
		})()`)
		if err != nil {
			t.Fatal(err)
		}
		number, outline, _ := strings.Cut(focus, " ")
		if number == "" {
			break // the end of the page
		}
		if outline == "none" {
			t.Errorf("nobody sees that control %s has the focus", number)
		}
		if len(got) == 0 || got[len(got)-1] != number {
			got = append(got, number)
		}
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("Tab leads to %v, want %v", got, wanted)
	}
	st.enter(t, &s, at("solved"))
	if there, err := ask[bool](b, `document.querySelector(".confetti") !== null`); err != nil || there {
		t.Errorf("confetti falls: %t, %v", there, err)
	}
}
