package live

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestManners: a volunteer's hours hold the work and the drawing, over a reload, too; and who comes back to a
// page that was hidden reads what happened.
func TestManners(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "Pendulum-v1", "--workers", "1")
	b := s.newTab(t, n.page)
	b.open(t)
	s.await(t, "the tab helps", b.reads("Your computer is helping"))
	s.await(t, "it has done something", func() string {
		if b.number("mine") == 0 {
			return b.describe()
		}
		return ""
	})

	hide := func(hidden bool) string {
		return fmt.Sprintf(`Object.defineProperty(document, "hidden", { get: () => %t, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`, hidden)
	}
	b.do(t, "hiding the page", chromedp.Evaluate[chromedp.Void](hide(true)))
	b.do(t, "letting ten minutes pass", chromedp.Evaluate[chromedp.Void](`const now = Date.now; Date.now = () => now() + 600_000`))
	b.do(t, "coming back", chromedp.Evaluate[chromedp.Void](hide(false)))
	s.await(t, "the page says what happened", b.reads("In the 10 minutes that you were away"))
	b.picture(t, "back")
	b.do(t, "reading it", chromedp.Click("#away-close"))

	// The hours that begin in an hour, and end in two.
	b.do(t, "choosing hours", chromedp.Evaluate[chromedp.Void](`
		const at = (hours) => String((new Date().getHours() + hours) % 24).padStart(2, "0") + ":" + String(new Date().getMinutes()).padStart(2, "0");
		document.getElementById("hours-from").value = at(1);
		document.getElementById("hours-to").value = at(2);
		document.getElementById("hours").click()`))
	s.await(t, "the work is on hold", b.reads("Paused at this hour"))
	s.await(t, "the drawing is, too", b.has(`document.getElementById("play").ariaPressed === "false"`))
	b.do(t, "reloading", chromedp.Reload())
	s.await(t, "it still is", b.reads("Paused at this hour"))
	b.do(t, "lending all hours", chromedp.Evaluate[chromedp.Void](`document.getElementById("hours").click()`))
	s.await(t, "the tab helps again", b.reads("Your computer is helping"))
}
