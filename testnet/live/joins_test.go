package live

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

var (
	joins      = flag.Int("live.joins", 1, "how many newcomers TestJoins lets join of each kind, one after the other")
	joinEnv    = flag.String("live.joins.env", "CartPole-v1", "the environment of the run that TestJoins joins")
	joinHeight = flag.Uint64("live.joins.height", 100, "how many generations it has before anybody joins")
	joinData   = flag.String("live.joins.data", "", "a folder that keeps the run between two calls, or has one of testnet/bench/oldrun; empty: a temporary one")
)

// catchUp bounds the wait for a newcomer, which folds the whole log first. With running statistics that takes
// an episode for every generation.
const catchUp = 5 * time.Minute

// mandate is the number of entries after which a leader hands over. A term that ends earlier, with every peer
// there, was lost.
const mandate = 20

// TestJoins lets newcomers join a run that is some hundred generations old, on a machine whose cores are all
// busy. None of them may cost the healthy leader its term. It measures the time to a newcomer's first
// evaluation in the log and, in a tab, the longest task on the page's thread.
func TestJoins(t *testing.T) {
	var s swarm
	first := s.oldRun(t)
	t.Run("native", func(t *testing.T) {
		var took []time.Duration
		for i := range *joins {
			took = append(took, s.joinNative(t, first, i))
		}
		t.Logf("first evaluation in the log: %s", spread(took))
	})
	t.Run("tab", func(t *testing.T) {
		var took, longest []time.Duration
		for range *joins {
			d, l := s.joinTab(t, first)
			took, longest = append(took, d), append(longest, l)
		}
		t.Logf("first evaluation in the log: %s", spread(took))
		t.Logf("longest task on the page's thread: %s", spread(longest))
	})
}

// oldRun starts a node with a run of joinHeight generations that lends every core, and waits until it leads. A run that
// joinData has is served as it is.
func (s *swarm) oldRun(t *testing.T) *node {
	t.Helper()
	args := []string{"--bootstrap"}
	if runs, _ := filepath.Glob(filepath.Join(*joinData, "*.seedlog")); *joinData == "" || len(runs) == 0 {
		args = append(args, "--train", *joinEnv)
	}
	first := s.newNode(t, "first", args...)
	if *joinData != "" {
		dir, err := filepath.Abs(*joinData)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		first.setFlag("--data", dir)
		first.data = dir
	}
	first.setFlag("--workers", "2")
	first.start(t)
	s.awaitFor(t, fmt.Sprintf("the run has %d generations", *joinHeight), 15*time.Minute, func() string {
		st, err := first.status()
		switch {
		case err != nil:
			return err.Error()
		case st.Height < *joinHeight:
			return fmt.Sprintf("has %d", st.Height)
		case !st.Leads:
			return "nobody leads"
		}
		return ""
	})
	return first
}

// setFlag gives a flag that the node has another value.
func (n *node) setFlag(name, value string) {
	n.args[slices.Index(n.args, name)+1] = value
}

// joinNative lets a new node join, and leave once it has an evaluation in the log.
func (s *swarm) joinNative(t *testing.T, first *node, number int) time.Duration {
	t.Helper()
	before := s.settled(t, first)
	n := s.newNode(t, fmt.Sprintf("newcomer %d", number+1), "join", first.page)
	begun := time.Now()
	n.start(t)
	var mine uint64
	s.awaitFor(t, n.name+" has evaluations in the log", catchUp, func() string {
		st, err := n.status()
		if err != nil {
			return err.Error()
		}
		if mine = st.Mine; mine == 0 {
			return fmt.Sprintf("at height %d: %s", st.Height, st.Why)
		}
		return ""
	})
	took := time.Since(begun)
	keptTerms(t, first, before, n.name)
	n.stop(t)
	s.nodes = slices.DeleteFunc(s.nodes, func(other *node) bool { return other == n })
	return took
}

// joinTab opens the page in a new browser profile, and closes it once the tab has an evaluation in the log.
func (s *swarm) joinTab(t *testing.T, first *node) (took, longest time.Duration) {
	t.Helper()
	before := s.settled(t, first)
	b := s.newTab(t, first.page)
	b.open(t)
	b.do(t, "watching long tasks", chromedp.Evaluate[chromedp.Void](`globalThis.longestTask = 0;
		new PerformanceObserver((list) => {
			for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
		}).observe({ type: "longtask", buffered: true });`))
	s.awaitFor(t, "the tab has evaluations in the log", catchUp, func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return "the page shows none"
		}
		return ""
	})
	keptTerms(t, first, before, "the tab")
	ms, err := ask[float64](b, "longestTask")
	if err != nil {
		t.Errorf("reading the longest task: %v", err)
	}
	took = time.Duration(b.mark("evoswarm-first-claim") * float64(time.Millisecond))
	longest = time.Duration(ms * float64(time.Millisecond))
	b.close()
	return took, longest
}

// settled waits until the first node leads alone, and returns its status.
func (s *swarm) settled(t *testing.T, first *node) (st peer.Status) {
	t.Helper()
	s.await(t, "the first node leads alone", func() string {
		var err error
		switch st, err = first.status(); {
		case err != nil:
			return err.Error()
		case !st.Leads:
			return "follows " + st.Leader
		case st.Connected > 0:
			return fmt.Sprintf("connected to %d", st.Connected)
		}
		return ""
	})
	return st
}

// keptTerms checks that every term since then has entries, and that each but the last lasted its mandate.
func keptTerms(t *testing.T, first *node, before peer.Status, newcomer string) {
	t.Helper()
	list := entries(t, first.seedlog(t))
	counts := map[uint64]int{}
	for _, e := range list {
		counts[e.Term]++
	}
	last := list[len(list)-1].Term
	for term := before.Term; term < last; term++ {
		if counts[term] < mandate {
			t.Errorf("%s: term %d, of %d to %d, has %d entries, want the %d of a mandate: the leader lost it", newcomer, term, before.Term, last, counts[term], mandate)
		}
	}
	if st, err := first.status(); err == nil && st.Term > last+1 {
		t.Errorf("%s: got term %d, the log ends in %d: terms without an entry", newcomer, st.Term, last)
	}
}

// spread describes durations by their median and extremes.
func spread(list []time.Duration) string {
	list = slices.Sorted(slices.Values(list))
	return fmt.Sprintf("%d times, median %.2f s, from %.2f s to %.2f s", len(list), list[len(list)/2].Seconds(), list[0].Seconds(), list[len(list)-1].Seconds())
}
