package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// TestFailover kills the leader of three nodes, as often as -live.failover says, and measures the time to the next
// entry. A status is at most 0.1 s old, so the figures are too long by up to that.
func TestFailover(t *testing.T) {
	var s swarm
	first := s.newNode(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1")
	second := s.newNode(t, "second", "join", first.page)
	third := s.newNode(t, "third", "join", first.page)
	for _, n := range []*node{first, second, third} {
		n.start(t)
		s.await(t, n.name+" answers", func() string {
			if _, err := n.status(); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	var took []time.Duration
	for len(took) < *failovers {
		s.await(t, "the swarm is whole", func() string {
			return s.each(func(_ *node, st peer.Status) string {
				if st.Connected != 2 || st.Peers != 2 || st.Mine == 0 {
					return fmt.Sprintf("connected to %d, hears %d, %d own evaluations", st.Connected, st.Peers, st.Mine)
				}
				return ""
			})
		})
		s.grown(t, 2)
		dead, was := s.leader(t)
		if d, ok := s.failover(t, dead, was); ok {
			took = append(took, d)
			t.Logf("leader %d of %d: next entry after %.2f s", len(took), *failovers, d.Seconds())
		}
		if dead != first { // join through a live node
			dead.args[1] = first.page
		}
		dead.start(t)
	}
	slices.Sort(took)
	t.Logf("from SIGKILL of the leader to the next entry, %d times: median %.2f s, worst %.2f s",
		len(took), took[len(took)/2].Seconds(), took[len(took)-1].Seconds())
}

// failover kills the leader and returns the time until the first entry of another leader. ok is false if the leader had
// handed over in the meantime.
func (s *swarm) failover(t *testing.T, dead *node, was peer.Status) (took time.Duration, ok bool) {
	t.Helper()
	begun := time.Now()
	dead.kill()
	var top uint64 // what the dead leader had appended
	lacks := s.each(func(_ *node, st peer.Status) string {
		top = max(top, st.Height)
		if st.Leader != was.Self || st.Term != was.Term {
			return "had handed over"
		}
		return ""
	})
	if lacks != "" {
		t.Logf("not counted: %s", lacks)
		return 0, false
	}
	for time.Since(begun) < patience {
		for _, n := range s.nodes {
			st, err := n.status()
			switch {
			case err != nil: // the dead leader
			case st.Term == was.Term: // an entry of the dead leader may still arrive
				top = max(top, st.Height)
			case st.Leader != "" && st.Leader != was.Self && st.Height > top:
				return time.Since(begun), true
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no entry within %v of the leader's death\n%s", patience, s.describe())
	return 0, false
}
