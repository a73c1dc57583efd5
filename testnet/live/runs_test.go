package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// TestRunsPage has a volunteer open the list of a node's two runs, choose the second, and help it; then choose the
// first.
func TestRunsPage(t *testing.T) {
	s := &swarm{}
	n := s.newNode(t, "node", "--bootstrap", "--train", "CartPole-v1", "--train", "Pendulum-v1").start(t)
	var list struct {
		Runs []struct{ Run string }
	}
	s.await(t, "the node lists its runs", func() string {
		data, err := n.fetch(client, "/api/runs")
		if err == nil {
			err = json.Unmarshal(data, &list)
		}
		if err != nil || len(list.Runs) != 2 {
			return fmt.Sprint(err)
		}
		return ""
	})
	first, second := list.Runs[0].Run, list.Runs[1].Run
	b := s.newTab(t, n.page+"/runs")
	b.open(t)
	s.await(t, "the page lists them", b.reads("2 runs"))
	s.await(t, "it marks the one that is advised", b.reads("Fewest peers: help counts most here"))
	b.picture(t, "runs")
	b.do(t, "choosing the second", chromedp.Click(`li[data-run="`+second+`"] a`))
	s.await(t, "the tab helps the second run", n.hasTab(second))
	s.await(t, "the page says which run that is", b.reads("You chose this one."))
	s.await(t, "it says what it did", func() string {
		if b.number("mine") == 0 {
			return b.describe()
		}
		return ""
	})
	if lacks := n.hasTab(first)(); lacks == "" {
		t.Error("the tab helps the first run, too")
	}
	b.picture(t, "chosen")
	b.do(t, "looking at the list again", chromedp.Click("#runs-link"))
	s.await(t, "the list is there", b.reads("2 runs"))
	b.do(t, "choosing the first", chromedp.Click(`li[data-run="`+first+`"] a`))
	s.await(t, "the tab helps the first run", n.hasTab(first))
}

// hasTab says what is missing until the log of a run has evaluations of a tab.
func (n *node) hasTab(run string) func() string {
	return func() string {
		data, err := n.fetch(client, "/api/peers?run="+run)
		var r peer.Roster
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil || !slices.ContainsFunc(r.Members, func(m peer.Member) bool { return m.Kind == "tab" && m.Evaluations > 0 }) {
			return fmt.Sprintf("%v, %v", r.Members, err)
		}
		return ""
	}
}
