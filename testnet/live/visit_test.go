package live

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var visitTime = flag.Duration("live.visit", 30*time.Second, "how long TestVisit leaves the page open (docs/bench: 1h)")

// watchFrames counts the frames that the page's thread gave to the screen, those that came late (a screen of 60 Hz had
// to show the one before once more), and tasks of more than 50 ms, all since it was last asked.
const watchFrames = `
	globalThis.seen = { frames: 0, late: 0, tasks: 0, longest: 0 };
	new PerformanceObserver((list) => {
		for (const entry of list.getEntries()) {
			seen.tasks++;
			seen.longest = Math.max(seen.longest, entry.duration);
		}
	}).observe({ type: "longtask" });
	let before = performance.now();
	const frame = (now) => {
		seen.frames++;
		if (now - before > 25) seen.late += Math.round((now - before) / (1000 / 60)) - 1;
		before = now;
		requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);`

// seen is what watchFrames counted.
type seen struct {
	Frames, Late, Tasks int
	Longest             float64 // ms
}

// TestVisit leaves the page open next to a node that gives way to it, as if that were on another computer, and says
// what it took: frames, long tasks, memory. A visit must not need more and more memory.
func TestVisit(t *testing.T) {
	var s swarm
	n := s.newNode(t, "node", "--bootstrap", "--train", "LunarLander-v3")
	n.within = []string{"nice", "-n", "19"}
	n.start(t)
	s.await(t, "the page is served", func() string {
		if _, err := n.fetch(client, "/healthz"); err != nil {
			return err.Error()
		}
		return ""
	})
	b := s.newTab(t, n.page)
	b.open(t)
	s.await(t, "the tab has evaluations in the log", func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return b.describe()
		}
		return ""
	})
	b.do(t, "watching tasks", chromedp.Evaluate[chromedp.Void](watchTasks))
	time.Sleep(time.Second) // what the browser remembers of tasks comes a little later
	opening, err := ask[float64](b, "longestTask")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the longest task from the opening on: %.0f ms", opening)
	b.do(t, "watching frames", chromedp.Evaluate[chromedp.Void](watchFrames))
	const readings = 12
	var memory [readings]int
	var all seen
	for i := range readings {
		time.Sleep(*visitTime / readings)
		got, err := ask[seen](b, `(() => { const was = seen; seen = { frames: 0, late: 0, tasks: 0, longest: 0 }; return was; })()`)
		if err != nil {
			t.Fatal(err)
		}
		memory[i] = b.memory(t)
		t.Logf("after %v at height %d: %d frames, %d late; %d tasks of more than 50 ms, the longest %.0f ms; %d MiB",
			*visitTime*time.Duration(i+1)/readings, b.number("height"), got.Frames, got.Late, got.Tasks, got.Longest, memory[i])
		all = seen{all.Frames + got.Frames, all.Late + got.Late, all.Tasks + got.Tasks, max(all.Longest, got.Longest)}
	}
	b.picture(t, "visit")
	t.Logf("in all: %.2f %% of the frames in time; %d tasks of more than 50 ms, the longest %.0f ms",
		100*float64(all.Frames)/float64(all.Frames+all.Late), all.Tasks, all.Longest)
	if first, last := memory[readings/3], memory[readings-1]; last > first+first/2 {
		t.Errorf("the tab took %d MiB after a third of the visit, and %d at its end", first, last)
	}
}

// memory is what the tab's process has for itself, in MiB: the one of the browser's processes that has most.
func (b *tab) memory(t *testing.T) (most int) {
	t.Helper()
	for _, p := range b.processes(t) {
		data, err := os.ReadFile(filepath.Join(p.folder, "status"))
		if err != nil {
			continue // it ended meanwhile
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
				kib, _ := strconv.Atoi(fields[1])
				most = max(most, kib>>10)
			}
		}
	}
	return most
}
