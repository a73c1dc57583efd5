package live

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// scenario is the swarm of TestSwarm: three nodes and a tab.
type scenario struct {
	swarm
	builds crossBuilds
	tabKey string // as the log names it
	away   *node  // killed, to come back
}

// TestSwarm is one story: each part starts where the last one ended.
func TestSwarm(t *testing.T) {
	s := &scenario{builds: buildCross(t)}
	first := s.newNode(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	s.newNode(t, "second", "join", first.page)
	s.newNode(t, "third", "join", first.page)
	s.newTab(t, first.page)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"three nodes and a tab solve CartPole", s.train},
		{"the leader dies", s.leaderDies},
		{"who was away rejoins", s.rejoins},
		{"the tab is reloaded", s.reload},
		{"all but one die", s.oneSurvives},
		{"the dead come back", s.allReturn},
		{"every log gives the same model", s.replayAll},
	} {
		if !t.Run(part.name, part.run) {
			t.Fatalf("the story ends here")
		}
	}
}

func (s *scenario) train(t *testing.T) {
	s.nodes[0].start(t)
	s.await(t, "the page is served", func() string {
		if _, err := s.nodes[0].fetch(client, "/healthz"); err != nil {
			return err.Error()
		}
		return ""
	})
	s.nodes[1].start(t)
	s.nodes[2].start(t)
	s.tab.open(t)
	s.await(t, "each node has evaluations in the log", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 {
				return "has none"
			}
			return ""
		})
	})
	s.await(t, "the tab has evaluations in the log", func() string {
		if s.tab.mark("evoswarm-first-claim") < 0 {
			return "the page shows none"
		}
		return ""
	})
	t.Logf("from opening the page: takes part after %.2f s, first accepted claim after %.2f s",
		s.tab.mark("evoswarm-running")/1000, s.tab.mark("evoswarm-first-claim")/1000)
	if note, err := ask[string](s.tab, `document.getElementById("workers-note").textContent`); err != nil || !strings.Contains(note, "Kernel: simd128") {
		t.Errorf("got %q, %v: the tab does not compute with SIMD128", note, err)
	}
	s.await(t, "all count three others", func() string {
		if got := s.tab.number("peers"); got != 3 {
			return fmt.Sprintf("the page says %d", got)
		}
		return s.each(func(_ *node, st peer.Status) string {
			if st.Peers != 3 {
				return fmt.Sprintf("says %d", st.Peers)
			}
			return ""
		})
	})
	s.solve(t)
	s.findTabKey(t)
	s.picture(t)
}

// solve waits until held-out episodes of the model solve the environment.
func (s *scenario) solve(t *testing.T) {
	t.Helper()
	var e struct {
		Height uint64  `json:"height"`
		Mean   float64 `json:"mean"`
		Solved bool    `json:"solved"`
	}
	s.await(t, "the world is solved", func() string {
		if err := json.Unmarshal(command(t, evonode(t), "eval", s.nodes[0].seedlog(t), "--json"), &e); err != nil {
			return err.Error()
		}
		if !e.Solved {
			return fmt.Sprintf("at height %d held-out episodes return %.1f", e.Height, e.Mean)
		}
		return ""
	})
	t.Logf("solved at height %d: held-out episodes return %.1f", e.Height, e.Mean)
}

// findTabKey finds the tab's key in the log: the only one with evaluations that is not a node's.
func (s *scenario) findTabKey(t *testing.T) {
	t.Helper()
	sum := credit(entries(t, s.nodes[0].seedlog(t)))
	for _, n := range s.nodes {
		st, err := n.status()
		if err != nil {
			t.Fatal(err)
		}
		if sum[st.Self] == 0 {
			t.Errorf("%s (%s) has no evaluations in the log: %v", n.name, st.Self, sum)
		}
		delete(sum, st.Self)
	}
	if len(sum) != 1 {
		t.Fatalf("got %v besides the nodes, want the tab alone", sum)
	}
	for s.tabKey = range sum {
		t.Logf("the tab is %s with %d evaluations", s.tabKey[:8], sum[s.tabKey])
	}
}

// picture takes a screenshot if -live.screenshot asks for one.
func (s *scenario) picture(t *testing.T) {
	t.Helper()
	if *screenshot == "" {
		return
	}
	s.grown(t, 20) // so that the curve shows something
	s.await(t, "the page shows a good policy", func() string {
		if good, err := ask[bool](s.tab, `parseFloat(document.getElementById("return").textContent) >= 490`); err != nil || !good {
			return fmt.Sprint("not yet: ", err)
		}
		return ""
	})
	s.tab.do(t, "sizing the page", chromedp.EmulateViewport(1280, 1380))
	png, err := chromedp.Run(s.tab.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(*screenshot, png, 0o644)
	}
	if err != nil {
		t.Errorf("the picture of the page: %v", err)
	}
}

func (s *scenario) leaderDies(t *testing.T) {
	leader, was := s.leader(t)
	leader.kill()
	s.away = leader
	t.Logf("%s was killed while %s", leader.name, was.Why)
	s.await(t, "another leads", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Leader == "" || st.Leader == was.Self {
				return fmt.Sprintf("follows %q", st.Leader)
			}
			return ""
		})
	})
	s.grown(t, 5)
}

func (s *scenario) rejoins(t *testing.T) {
	height := s.top()
	s.away.start(t)
	s.await(t, "it has caught up", func() string {
		st, err := s.away.status()
		if err != nil {
			return err.Error()
		}
		if st.Height < height {
			return fmt.Sprintf("at height %d of %d", st.Height, height)
		}
		return ""
	})
	head := s.agree(t)
	s.samePrefix(t, height)
	t.Logf("the head of all: %s", head)
}

// samePrefix compares the chains of all nodes up to a height.
func (s *scenario) samePrefix(t *testing.T, height uint64) {
	t.Helper()
	var want []entry
	for _, n := range s.nodes {
		got := entries(t, n.seedlog(t))
		if uint64(len(got)) < height {
			t.Fatalf("%s: got a log of height %d, want %d\n%s", n.name, len(got), height, s.describe())
		}
		if want == nil {
			want = got
		}
		same := func(a, b entry) bool { return a.CID == b.CID }
		if !slices.EqualFunc(got[:height], want[:height], same) {
			t.Errorf("%s: got another chain up to height %d than %s", n.name, height, s.nodes[0].name)
		}
	}
}

// tabCredit is how many evaluations of the tab's key are in the log of a node that runs.
func (s *scenario) tabCredit(t *testing.T) uint64 {
	t.Helper()
	for _, n := range s.nodes {
		if n.runs() {
			return credit(entries(t, n.seedlog(t)))[s.tabKey]
		}
	}
	t.Fatal("no node runs")
	return 0
}

func (s *scenario) reload(t *testing.T) {
	s.tab.do(t, "reloading the page", chromedp.Reload())
	s.tabContinues(t)
}

// tabContinues waits until the tab, just opened, has more of its own work in the log under its old key.
func (s *scenario) tabContinues(t *testing.T) {
	t.Helper()
	before := s.tabCredit(t)
	s.await(t, "the tab shows what it had done", func() string {
		if got := s.tab.number("mine"); got < before {
			return fmt.Sprintf("shows %d evaluations, had %d", got, before)
		}
		return ""
	})
	s.await(t, "the tab's work grows on", func() string {
		if got := s.tabCredit(t); got <= before {
			return fmt.Sprintf("%d evaluations in the log, as before", got)
		}
		return ""
	})
	if sum := credit(entries(t, s.nodes[0].seedlog(t))); len(sum) != 4 {
		t.Errorf("got %d keys in the log, want those of three nodes and of the tab: %v", len(sum), sum)
	}
}

func (s *scenario) oneSurvives(t *testing.T) {
	leader, _ := s.leader(t)
	survivor := s.nodes[1]
	if survivor == leader {
		survivor = s.nodes[2]
	}
	for _, n := range s.nodes {
		if n != survivor {
			n.kill()
		}
	}
	s.tab.kill(t)
	s.await(t, "the survivor leads", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if !st.Leads {
				return "follows " + st.Leader
			}
			return ""
		})
	})
	s.grown(t, 16) // what the others had claimed has a place in twelve entries
	list := entries(t, survivor.seedlog(t))
	st, err := survivor.status()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list[len(list)-3:] {
		if e.Leader != st.Self || len(e.Peers) != 1 || e.Peers[st.Self] == 0 {
			t.Errorf("got entry %+v, want one of the survivor alone", e)
		}
	}
}

func (s *scenario) allReturn(t *testing.T) {
	height := s.top()
	for _, n := range s.nodes {
		if n.runs() {
			continue
		}
		if n.args[0] == "join" { // the bootstrap node may not be back yet
			for _, other := range s.nodes {
				if other.runs() {
					n.args[1] = other.page
				}
			}
		}
		n.start(t)
		s.await(t, n.name+" answers", func() string {
			if _, err := n.status(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	s.grown(t, 3)
	s.agree(t)
	s.samePrefix(t, height)
	begun := time.Now()
	s.tab.open(t)
	s.tabContinues(t)
	t.Logf("the tab continued %.2f s after its browser was restarted", time.Since(begun).Seconds())
}
