package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// accessible holds the page to the rules of WCAG 2.2 AA that axe-core can see, as it is now: on a telephone and on a
// monitor, light and dark.
func (s *swarm) accessible(t *testing.T, b *tab, state string) {
	t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			b.do(t, "sizing the page", chromedp.EmulateViewport(width, 900))
			s.holdToRules(t, fmt.Sprintf("%s, %d px, %s", state, width, scheme))
			b.picture(t, fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(state, " ", "-"), width, scheme))
		}
	}
}

// holdToRules has axe-core look at the page as it is now.
func (s *swarm) holdToRules(t *testing.T, state string) {
	t.Helper()
	b := s.tab
	if there, err := ask[bool](b, `"axe" in globalThis`); err != nil || !there {
		axe, err := os.ReadFile(filepath.Join(root, "web", "node_modules", "axe-core", "axe.min.js"))
		if err != nil {
			t.Fatal(err)
		}
		b.do(t, "loading axe", chromedp.Evaluate[chromedp.Void](string(axe)+"\n;0"))
	}
	b.do(t, "running axe", chromedp.Evaluate[chromedp.Void](`
		globalThis.findings = undefined;
		axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
			(r) => globalThis.findings = r.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "    " + n.html.slice(0, 160) + "\n      " + n.any.concat(n.all).map((c) => c.message).join("; ")).join("\n")).join("\n"),
			(err) => globalThis.findings = String(err)); 0`))
	s.await(t, "axe has checked "+state, b.has(`globalThis.findings !== undefined`))
	if findings, err := ask[string](b, "globalThis.findings"); err != nil || findings != "" {
		t.Errorf("%s: %v\n%s", state, err, findings)
	}
}

// TestAccessible looks at each state of the page with axe-core, and at what leads to others: the invitation,
// and a frame in somebody's page, which asks before it loads or computes anything.
func TestAccessible(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "LunarLander-v3", "--workers", "1")
	b := s.newTab(t, n.page+"?embed")
	b.open(t)
	s.await(t, "the frame asks", b.reads("Yours can be one of them"))
	s.await(t, "it shows the run", func() string {
		if got, _ := ask[string](b, `document.getElementById("curve-words").textContent`); !strings.HasPrefix(got, "Generation") {
			return got
		}
		return ""
	})
	if loaded, err := ask[bool](b, `performance.getEntriesByType("resource").some((r) => r.name.endsWith(".wasm"))`); err != nil || loaded {
		t.Errorf("the frame loads programs before anybody agreed: %t, %v", loaded, err)
	}
	s.accessible(t, b, "frame")
	b.do(t, "agreeing", chromedp.Click("#agree"))
	s.await(t, "the tab helps", b.reads("Your computer is helping"))

	b.do(t, "opening the whole page", chromedp.Navigate(n.page))
	s.await(t, "the tab helps", b.reads("Your computer is helping"))
	s.await(t, "one of its results moved the model", b.has(`document.querySelector("#moves button") !== null`))
	s.await(t, "the policy plays", b.reads("Policy of generation"))
	b.do(t, "opening what is closed", chromedp.Evaluate[chromedp.Void](`document.querySelector("details").open = true`))
	s.accessible(t, b, "helping")

	b.do(t, "speaking German", chromedp.Evaluate[chromedp.Void](`document.getElementById("language").click()`))
	s.await(t, "the page speaks German", b.reads("Ihr Rechner hilft mit"))
	s.await(t, "so do its lists", b.has(`/von Ihnen/.test(document.getElementById("entries").textContent) && /Meines zeigen/.test(document.getElementById("moves").textContent)`))
	s.accessible(t, b, "German")
	b.do(t, "reloading", chromedp.Reload())
	s.await(t, "the page still speaks German", b.reads("Ihr Rechner hilft mit"))
	b.do(t, "speaking English", chromedp.Evaluate[chromedp.Void](`document.getElementById("language").click()`))
	s.await(t, "the page speaks English", b.reads("Your computer is helping"))

	b.do(t, "inviting", chromedp.Click("#invite"))
	s.await(t, "the invitation is there", b.has(`document.getElementById("invitation").open && document.getElementById("code").width > 100`))
	s.accessible(t, b, "invitation")
	st, err := n.status()
	link, _ := ask[string](b, `document.getElementById("invitation-link").value`)
	if err != nil || !strings.HasSuffix(link, "#"+st.Run) {
		t.Errorf("the invitation leads to %s, want run %s, %v", link, st.Run, err)
	}
	b.do(t, "closing it", chromedp.Click("#invitation form button"))

	b.do(t, "filling the screen", chromedp.Evaluate[chromedp.Void](`document.getElementById("screen").click()`))
	s.await(t, "the figures are there", b.reads("evaluations per second · "))
	s.accessible(t, b, "screen")
	b.do(t, "leaving", chromedp.Evaluate[chromedp.Void](`dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))`))
	s.await(t, "the whole page is back", b.has(`!document.body.classList.contains("saver")`))

	b.do(t, "pausing", chromedp.Evaluate[chromedp.Void](`document.getElementById("pause").click()`))
	s.await(t, "the tab is paused", b.reads("The tab only follows the run"))
	s.accessible(t, b, "paused")
	n.kill()
	b.do(t, "opening a page without its node", chromedp.Reload())
	s.await(t, "the page says what is wrong", b.reads("The node may be restarting"))
	s.accessible(t, b, "offline")
}
