package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// tabWorks waits until the log of a node has more evaluations of keys that are no node's than before.
func (s *swarm) tabWorks(t *testing.T, n *node, limit time.Duration, what string) {
	t.Helper()
	own := map[string]bool{}
	for _, m := range s.nodes {
		if st, err := m.status(); err == nil {
			own[st.Self] = true
		}
	}
	foreign := func() (sum uint64) {
		for p, evaluations := range credit(entries(t, n.seedlog(t))) {
			if !own[p] {
				sum += evaluations
			}
		}
		return sum
	}
	before := foreign()
	s.awaitFor(t, what, limit, func() string {
		if got := foreign(); got <= before {
			return fmt.Sprintf("%d evaluations of the tab, as before", got)
		}
		return ""
	})
}

// TestTabOutlivesNodes: rows 6, 30 and 31, with a real Chromium. A tab that is frozen counts as gone within 20 s, costs
// nobody an election, and works again when it is back; one whose node dies works over another within 30 s; and when all
// nodes are dead it appends alone, and its log can be saved.
func TestTabOutlivesNodes(t *testing.T) {
	var s swarm
	first := s.serve(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	second := s.newNode(t, "second", "join", first.page).start(t)
	s.await(t, "both train", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 || st.Connected == 0 {
				return fmt.Sprintf("%d own evaluations, connected to %d", st.Mine, st.Connected)
			}
			return ""
		})
	})
	s.newTab(t, first.page).open(t)
	s.await(t, "the tab has evaluations in the log", func() string {
		if s.tab.mark("evoswarm-first-claim") < 0 {
			return "the page shows none"
		}
		return ""
	})
	counted := func(want int) func() string {
		return func() string {
			return s.each(func(_ *node, st peer.Status) string {
				if st.Peers != want {
					return fmt.Sprintf("counts %d others", st.Peers)
				}
				return ""
			})
		}
	}
	s.await(t, "it is counted", counted(2))

	_, was := s.leader(t)
	freeze := func(state page.SetWebLifecycleStateState) {
		if _, err := chromedp.Call(s.tab.ctx, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state}); err != nil {
			t.Fatalf("making the tab %s: %v", state, err)
		}
	}
	freeze(page.SetWebLifecycleStateStateFrozen)
	s.awaitFor(t, "the frozen tab counts as gone", 20*time.Second, counted(1))
	time.Sleep(5 * time.Second)
	freeze(page.SetWebLifecycleStateStateActive)
	s.awaitFor(t, "it is counted again", 20*time.Second, counted(2))
	s.tabWorks(t, second, 30*time.Second, "it works again")
	if st, err := second.status(); err != nil || st.Term > was.Term+20 {
		t.Errorf("term %d, was %d: %v", st.Term, was.Term, err)
	}

	first.kill() // which served the page
	s.tabWorks(t, second, 30*time.Second, "the tab works over the other node")

	second.kill()
	top := s.tab.number("height")
	s.awaitFor(t, "the tab appends alone", 30*time.Second, func() string {
		if got := s.tab.number("height"); got < top+3 {
			return fmt.Sprintf("at height %d, was at %d", got, top)
		}
		return ""
	})
	if list := entries(t, s.download(t)); uint64(len(list)) < top+3 {
		t.Errorf("the saved log has %d entries, the tab shows %d", len(list), top+3)
	}
}
