package live

import (
	"flag"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var reloads = flag.Int("live.reloads", 1, "how often TestReload reloads the page")

// TestReload measures how long a page that was opened before takes until its work is logged again.
func TestReload(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "CartPole-v1", "--workers", "1")
	b := s.newTab(t, n.page)
	b.open(t)
	var took []time.Duration
	for i := range *reloads + 1 {
		if i > 0 {
			time.Sleep(3 * time.Second) // what the browser keeps of programs it keeps after a while
			b.do(t, "reloading", chromedp.Reload())
		}
		s.await(t, "work of this visit is in the log", func() string {
			if b.mark("evoswarm-first-claim") < 0 {
				return b.describe()
			}
			return ""
		})
		t.Logf("visit %d: compiled after %.2f s, takes part after %.2f s, first accepted claim after %.2f s", i+1,
			b.mark("evoswarm-compiled")/1000, b.mark("evoswarm-running")/1000, b.mark("evoswarm-first-claim")/1000)
		if i > 0 {
			took = append(took, time.Duration(b.mark("evoswarm-first-claim")*float64(time.Millisecond)))
		}
	}
	t.Logf("from the reload to the first accepted claim: %s", spread(took))
}
