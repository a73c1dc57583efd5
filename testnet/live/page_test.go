package live

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var pictures = flag.String("live.pictures", "", "write pictures of what TestPage sees to this folder")

// longTask is what no task on the page's thread may take, with room for a machine that does other things: starting the
// tab's program alone takes longer.
const longTask = 500 * time.Millisecond

// TestPage reads what a volunteer reads: while joining a run that others began, while helping, in a second
// tab of the same browser, and while paused.
func TestPage(t *testing.T) {
	var s swarm
	first := s.newNode(t, "first", "--bootstrap", "--train", "Pendulum-v1")
	first.start(t)
	s.await(t, "the run has 20 generations", func() string {
		if st, err := first.status(); err != nil || st.Height < 20 {
			return fmt.Sprintf("%d, %v", st.Height, err)
		}
		return ""
	})
	b := s.newTab(t, first.page)
	b.open(t)
	b.do(t, "listening", chromedp.Evaluate[chromedp.Void](`
		globalThis.longestTask = 0;
		new PerformanceObserver((list) => {
			for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
		}).observe({ type: "longtask", buffered: true });
		globalThis.said = [];
		const state = document.querySelector(".state");
		const hear = () => {
			const words = document.getElementById("headline").textContent + ": " + document.getElementById("detail").textContent;
			if (words !== said.at(-1)) said.push(words);
		};
		hear();
		new MutationObserver(hear).observe(state, { subtree: true, childList: true, characterData: true });`))
	s.await(t, "the page shows the run as the node sees it", func() string {
		if b.number("height") < 20 {
			return b.describe()
		}
		return ""
	})
	b.picture(t, "opening")
	s.await(t, "the tab helps", b.reads("Your computer is helping"))
	s.await(t, "the policy plays", b.reads("Policy of generation"))
	drawn, err := ask[float64](b, `Number(/generation ([\d,]+)/.exec(document.getElementById("caption").textContent)[1].replaceAll(",", ""))`)
	if err != nil || drawn < 20 {
		t.Errorf("got %v, %v: a latecomer is shown a policy from before it came", drawn, err)
	}
	words, err := ask[string](b, `document.getElementById("curve-words").textContent`)
	if err != nil || !strings.Contains(words, "had a mean return") {
		t.Errorf("got %q, %v: a latecomer does not see the learning curve", words, err)
	}
	still := b.canvas(t)
	s.await(t, "the drawing moves", func() string {
		if bytes.Equal(b.canvas(t), still) {
			return "it does not move"
		}
		return ""
	})
	said, err := ask[string](b, `said.join("\n")`)
	if err != nil || strings.Contains(said, "lone") || strings.Contains(said, "sleep") {
		t.Errorf("got %v, want no word of being alone or asleep:\n%s", err, said)
	} else {
		t.Logf("what the page said:\n%s", said)
	}
	s.await(t, "the tab has evaluations in the log", func() string {
		if b.number("mine") == 0 {
			return b.describe()
		}
		return ""
	})
	ms, err := ask[float64](b, "longestTask")
	if longest := time.Duration(ms * float64(time.Millisecond)); err != nil || longest > longTask {
		t.Errorf("the longest task on the page's thread took %v, %v", longest, err)
	} else {
		t.Logf("the longest task on the page's thread took %v", longest)
	}
	b.picture(t, "helping")

	// A second tab of the same browser has the same key: it shows the run, and takes over when the first is closed.
	second := &tab{url: b.url}
	second.ctx, second.cancel = chromedp.NewContext(b.ctx)
	defer func() { second.cancel() }()
	if err := chromedp.Do(second.ctx); err != nil { // not with a timeout: the tab lives as long as the context of the first call
		t.Fatalf("opening a second tab: %v", err)
	}
	second.do(t, "opening a second tab", chromedp.Navigate(b.url))
	s.await(t, "the second tab says who works", second.reads("already helps in another tab"))
	s.await(t, "the second tab shows the run", func() string {
		if second.number("height") < 20 || second.number("evaluations") == 0 {
			return second.describe()
		}
		return ""
	})
	second.picture(t, "second-tab")
	b.do(t, "closing the first tab", chromedp.Navigate("about:blank"))
	s.await(t, "the second tab takes over", second.reads("Your computer is helping"))
	s.await(t, "the node and the second tab hear each other", func() string {
		if st, err := first.status(); err != nil || st.Peers != 1 || second.number("peers") != 1 {
			return fmt.Sprintf("the node hears %d, %v; %s", st.Peers, err, second.describe())
		}
		return ""
	})

	before := second.cpu(t)
	time.Sleep(3 * time.Second)
	working := second.cpu(t) - before
	second.do(t, "pausing", chromedp.Evaluate[chromedp.Void](`document.getElementById("pause").click()`))
	s.await(t, "the tab is paused", second.reads("The tab only follows the run"))
	time.Sleep(time.Second) // what was begun ends
	before = second.cpu(t)
	time.Sleep(3 * time.Second)
	t.Logf("of a core, the browser uses %.2f while it works and %.2f while paused", working/3, (second.cpu(t)-before)/3)
	second.picture(t, "paused")
}

// reads says what is missing until the page has the text.
func (b *tab) reads(text string) func() string {
	return func() string {
		if got := b.describe(); !strings.Contains(got, text) {
			return got
		}
		return ""
	}
}

// picture keeps a screenshot, if that was asked for.
func (b *tab) picture(t *testing.T, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o644)
	}
	if err != nil {
		t.Errorf("the picture of %s: %v", name, err)
	}
}

// cpu returns the processor time of the browser's processes so far, in seconds.
func (b *tab) cpu(t *testing.T) (seconds float64) {
	t.Helper()
	for _, p := range b.processes(t) {
		user, _ := strconv.ParseFloat(p.stat[11], 64)
		system, _ := strconv.ParseFloat(p.stat[12], 64)
		seconds += (user + system) / 100 // clock ticks of Linux
	}
	return seconds
}

// process is one of the browser's.
type process struct {
	folder string   // in /proc
	stat   []string // the fields of its stat that follow its name: state, parent, ...
}

// processes lists the browser's processes that run now.
func (b *tab) processes(t *testing.T) []process {
	t.Helper()
	return processesOf(t, chromedp.FromContext(b.ctx).Browser.Process().Pid)
}

// processesOf lists a process and those that it started.
func processesOf(t *testing.T, root int) (list []process) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	all, parents := map[int]process{}, map[int]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		folder := filepath.Dir(file)
		pid, _ := strconv.Atoi(filepath.Base(folder))
		p := process{folder, strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))}
		all[pid] = p
		parents[pid], _ = strconv.Atoi(p.stat[1])
	}
	for pid, p := range all {
		for at := pid; at > 1; at = parents[at] {
			if at == root {
				list = append(list, p)
				break
			}
		}
	}
	return list
}
