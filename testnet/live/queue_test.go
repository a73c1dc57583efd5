package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// TestQueue has a node train two worlds one after the other. A node and a tab that joined it see the first run end,
// follow to the second, and find out for themselves that it is solved.
func TestQueue(t *testing.T) {
	s := &swarm{}
	first := s.serve(t, "first", "--bootstrap", "--train", "BipedalWalker-v3,CartPole-v1", "--until", "solved,entries=40")
	second := s.newNode(t, "second", "join", first.page).start(t)
	s.newTab(t, first.page).open(t)
	s.await(t, "all work on the first world", func() string {
		if s.tab.mark("evoswarm-running") < 0 {
			return "the page does not take part"
		}
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 {
				return "has no evaluation in the log"
			}
			return ""
		})
	})
	var end peer.Status
	s.awaitFor(t, "the second node sees the first run end", 2*time.Minute, func() string {
		st, err := second.status()
		if err != nil {
			return err.Error()
		}
		if end = st; st.Env != "BipedalWalker-v3" || !st.Ended || st.Reason != peer.RunEnded || st.Height != 40 {
			return fmt.Sprintf("%s in %s at height %d: %s", st.State, st.Env, st.Height, st.Why)
		}
		return ""
	})
	s.await(t, "the page says so", s.tab.reads("The run has ended"))
	s.awaitFor(t, "all follow to the second world, which is solved", 2*time.Minute, func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Env != "CartPole-v1" || st.Run == end.Run || st.State != peer.Solved || st.SolvedHeight == 0 {
				return fmt.Sprintf("%s in %s at height %d: %s", st.State, st.Env, st.Height, st.Why)
			}
			return ""
		})
	})
	s.await(t, "the page says so, too", s.tab.reads("Solved"))
	s.tab.picture(t, "solved")
	if log := entries(t, second.seedlog(t)); len(log) == 0 || len(log) > 40 {
		t.Errorf("the log of the second run has %d entries", len(log))
	}
}
