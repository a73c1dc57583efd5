package live

import (
	"flag"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var visitTime = flag.Duration("live.visit", 30*time.Second, "how long TestVisit and TestMemory leave the page open (docs/bench: 10m and 1h)")

// watchFrames counts the frames that the page's thread gave to the screen, those that came late (a screen of 60 Hz
// had to show the one before once more), and tasks of more than 50 ms, all since it was last asked.
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

// visited starts a node that gives way to a tab, as if it were on another computer, and trains for as long as the
// visit.
func (s *swarm) visited(t *testing.T) *node {
	t.Helper()
	n := s.newNode(t, "node", "--bootstrap", "--train", "LunarLander-v3", "--until", "evals=1000000000")
	n.within = []string{"nice", "-n", "19"}
	n.start(t)
	s.await(t, "the page is served", func() string {
		if _, err := n.fetch(client, "/healthz"); err != nil {
			return err.Error()
		}
		return ""
	})
	return n
}

// TestVisit leaves the page open, and says what frames and tasks of its thread took.
func TestVisit(t *testing.T) {
	var s swarm
	n := s.visited(t)
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
	var all seen
	for i := range readings {
		time.Sleep(*visitTime / readings)
		got, err := ask[seen](b, `(() => { const was = seen; seen = { frames: 0, late: 0, tasks: 0, longest: 0 }; return was; })()`)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("after %v at height %d: %d frames, %d late; %d tasks of more than 50 ms, the longest %.0f ms",
			*visitTime*time.Duration(i+1)/readings, b.number("height"), got.Frames, got.Late, got.Tasks, got.Longest)
		all = seen{all.Frames + got.Frames, all.Late + got.Late, all.Tasks + got.Tasks, max(all.Longest, got.Longest)}
	}
	b.picture(t, "visit")
	t.Logf("in all: %.2f %% of the frames in time; %d tasks of more than 50 ms, the longest %.0f ms",
		100*float64(all.Frames)/float64(all.Frames+all.Late), all.Tasks, all.Longest)
}
