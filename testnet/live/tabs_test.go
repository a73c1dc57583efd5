package live

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	orphans = flag.Int("live.orphans", 0, "how often TestTabsNextEntry kills the last node of two tabs")
	alone   = flag.Duration("live.alone", 20*time.Second, "how long the tabs of TestTabsWithoutNodes are without a node, before they are reloaded")
)

// withTabs starts a node and two tabs that are connected to each other, and waits until both work.
func (s *swarm) withTabs(t *testing.T) (*node, []*tab) {
	t.Helper()
	n := s.serve(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	tabs := []*tab{s.newTab(t, n.page), s.newTab(t, n.page)}
	for _, b := range tabs {
		b.open(t)
	}
	for _, b := range tabs {
		s.await(t, "the tab has evaluations in the log", func() string {
			if b.mark("evoswarm-first-claim") < 0 {
				return b.describe()
			}
			return ""
		})
		s.await(t, "it is connected to the other one", b.reads("WebRTC with other tabs"))
	}
	return n, tabs
}

// TestTabsNextEntry measures how long tabs are without an entry when their last node is killed.
func TestTabsNextEntry(t *testing.T) {
	if *orphans == 0 {
		t.Skip("a measurement: -live.orphans 20")
	}
	var took []time.Duration
	for range *orphans {
		t.Run("", func(t *testing.T) {
			var s swarm
			n, tabs := s.withTabs(t)
			n.kill()
			killed := time.Now()
			time.Sleep(time.Second) // what was on its way is shown: a page hears of news twice a second
			top := max(tabs[0].number("height"), tabs[1].number("height"))
			s.await(t, "the next entry", func() string {
				if got := max(tabs[0].number("height"), tabs[1].number("height")); got <= top {
					return fmt.Sprintf("at height %d as before", got)
				}
				return ""
			})
			took = append(took, time.Since(killed))
		})
	}
	t.Logf("the next entry: %s", spread(took))
}

// TestTabsWithoutNodes: row 6 with two real Chromiums. Tabs that a node told of each other connect directly. When
// the node is killed they continue together: both work, and their logs are the same. Each is reloaded, from what its
// browser keeps of the page and of the run, and appends to the log that both had, alone. When one of them is killed,
// the other still does; a node that comes back with nothing but the link takes the log from it.
func TestTabsWithoutNodes(t *testing.T) {
	var s swarm
	node, tabs := s.withTabs(t)
	self, err := node.status()
	if err != nil {
		t.Fatal(err)
	}

	node.kill()
	killed, top := time.Now(), max(tabs[0].number("height"), tabs[1].number("height"))
	higher := func(b *tab, by uint64) func() string {
		return func() string {
			if got := b.number("height"); got < top+by {
				return fmt.Sprintf("at height %d, was at %d: %s", got, top, b.describe())
			}
			return ""
		}
	}
	s.awaitFor(t, "the next entry", 30*time.Second, higher(tabs[0], 1))
	t.Logf("the tabs' next entry came %.1f s after the last node was killed", time.Since(killed).Seconds())
	for _, b := range tabs {
		s.await(t, "the tabs append", higher(b, 100))
	}
	time.Sleep(time.Until(killed.Add(*alone)))
	var logs [2][]entry
	for i, b := range tabs {
		s.tab = b
		logs[i] = entries(t, s.download(t))
	}
	both := min(len(logs[0]), len(logs[1]))
	if uint64(both) < top+50 || logs[0][both-1].CID != logs[1][both-1].CID {
		t.Errorf("at height %d one log has entry %s, the other %s", both, logs[0][both-1].CID, logs[1][both-1].CID)
	}
	after := credit(logs[0][top+20 : both]) // the first ones may hold what the node had computed
	if delete(after, self.Self); len(after) != 2 {
		t.Errorf("the tabs logged work of %v", after)
	}

	extends := func(b *tab) (now []entry) {
		t.Helper()
		s.tab = b
		now = entries(t, s.download(t))
		if same := func(a, b entry) bool { return a.CID == b.CID }; len(now) < both || !slices.EqualFunc(now[:both], logs[0][:both], same) {
			t.Errorf("a tab has %d entries, and not the %d that both had", len(now), both)
		}
		return now
	}
	for _, b := range tabs {
		top = b.number("height")
		b.do(t, "reloading", chromedp.Reload())
		s.await(t, "the reloaded tab appends to its log", higher(b, 10))
		s.await(t, "it draws a policy", b.reads("Policy of generation"))
		extends(b)
	}

	tabs[1].kill(t)
	top = tabs[0].number("height")
	s.awaitFor(t, "the last tab appends", 30*time.Second, higher(tabs[0], 10))
	last := extends(tabs[0])
	s.await(t, "the page says that it is alone", func() string {
		if text := tabs[0].describe(); strings.Contains(text, "with other tabs") {
			return text
		}
		return ""
	})

	if err := os.RemoveAll(node.data); err != nil {
		t.Fatal(err)
	}
	node.args = append([]string{"join", node.page + "#" + self.Run}, slices.DeleteFunc(node.args[3:], func(arg string) bool { return arg == "--until" || arg == "never" })...)
	node.start(t)
	back := time.Now()
	s.awaitFor(t, "a node that came back with nothing but the link has the log of the tab", 3*time.Minute, func() string {
		if st, err := node.status(); err != nil || st.Height < top || st.Leader == "" {
			return fmt.Sprintf("%+v %v; %s", st, err, tabs[0].describe())
		}
		return ""
	})
	t.Logf("it had the log after %.1f s", time.Since(back).Seconds())
	if got := entries(t, node.seedlog(t)); len(got) < both || got[both-1].CID != last[both-1].CID {
		t.Errorf("it has %d entries, of another chain than the tab", len(got))
	}
	s.tabWorks(t, node, 30*time.Second, "the tab works with it")
}

// TestTabsOfTwoBrowsers: a tab of Firefox and one of Chromium connect to each other, and continue without their node.
func TestTabsOfTwoBrowsers(t *testing.T) {
	var s swarm
	node := s.serve(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	b, f := s.newTab(t, node.page), newFirefox(t)
	b.open(t)
	f.open(t, node.page)
	said := func(words string) func() string {
		return func() string {
			if text, err := f.text("document.body.innerText"); err != nil || !strings.Contains(text, words) {
				return fmt.Sprint("Firefox says ", text, " ", err)
			}
			return ""
		}
	}
	s.await(t, "Firefox is connected to the other tab", said("WebRTC with other tabs"))
	s.await(t, "Chromium is", b.reads("WebRTC with other tabs"))
	self, err := node.status()
	if err != nil {
		t.Fatal(err)
	}

	node.kill()
	top := b.number("height")
	s.await(t, "they continue", func() string {
		if got := b.number("height"); got < top+60 {
			return fmt.Sprintf("at height %d, was at %d: %s", got, top, b.describe())
		}
		return ""
	})
	s.await(t, "Firefox is still connected to the other tab", said("WebRTC with other tabs"))
	after := credit(entries(t, s.download(t))[top+20:]) // the first ones may hold what the node had computed
	if delete(after, self.Self); len(after) != 2 {
		t.Errorf("they logged work of %v", after)
	}
}

// TestTabsCheckCertificates: a real Chromium connects to the tab whose certificate an offer names, and to no other one.
func TestTabsCheckCertificates(t *testing.T) {
	bundle := command(t, filepath.Join(root, "web", "node_modules", ".bin", "esbuild"), filepath.Join(root, "web", "src", "rtc.ts"),
		"--bundle", "--format=iife", "--global-name=rtc", "--log-level=error")
	script, err := os.ReadFile(filepath.Join("testdata", "tabs.js"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>tabs</title><script>%s\n%s</script>", bundle, script)
	}))
	t.Cleanup(server.Close)
	var s swarm
	b := s.newTab(t, server.URL)
	b.open(t)
	s.await(t, "all attempts have ended", func() string {
		if done, err := ask[bool](b, "globalThis.met !== undefined"); err != nil || !done {
			return "not yet"
		}
		return ""
	})
	for name, want := range map[string]string{"honest": "opened", "altered": "another certificate", "lost": "opened", "wrong": "opened"} {
		if got, err := ask[string](b, "globalThis.met."+name); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q: %v", name, got, want, err)
		}
	}
}
