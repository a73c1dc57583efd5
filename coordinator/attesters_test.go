package coordinator

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestLeavesAreDrawnByWork: who has work in few of the last entries is asked to attest as rarely as that, so that many
// keys of next to no work are no better than one.
func TestLeavesAreDrawnByWork(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(120)
	c := f.leader().coord
	of := c.chain.accountsAt(c.chain.head)
	small := make(map[Peer]bool)
	w := &workers{has: make(map[Peer]bool)}
	for i := range 44 {
		p, entries := keyOf(fmt.Sprint("leaf ", i)), of.length
		if i >= 4 {
			entries = 1
		}
		peer := seedlog.PeerOf(p)
		small[peer] = i >= 4
		of.of[peer] = account{steps: 1, entries: entries}
		w.list = append(w.list, attester{peer: peer})
	}
	claim := &seedlog.Claim{Parent: c.chain.head.link}
	c.tenure.workers[claim.Parent] = w
	asked := make(map[bool]int)
	for range 2000 {
		a := attesters{left: 1, attested: make(map[Peer]int), busy: make(map[Peer]bool)}
		if to, ok := c.drawAttester(&a, claim); ok {
			asked[small[to.peer]]++
		}
	}
	t.Logf("in runs of %d entries, 40 keys with work in one were asked %d times, 4 with work in all %d times", of.length, asked[true], asked[false])
	if asked[false] == 0 || 3*asked[true] > 2*(asked[true]+asked[false]) {
		t.Errorf("40 keys with one entry each were asked %d times, 4 with work in all %d", asked[true], asked[false])
	}
}

// TestWaitersTakeTurns: however many wait for a state to be encoded, few are answered at a time, and in the end all.
func TestWaitersTakeTurns(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(60)
	c := f.peers[0].coord
	n, s := c.chain.newest(), &c.serving.states
	if n.state == nil {
		t.Fatal("no state")
	}
	s.waiting = nil
	for i := range maxWaiting {
		s.waiting = append(s.waiting, waiter{seedlog.PeerOf(keyOf(fmt.Sprint("asker ", i))), n, &Ask{}})
	}
	c.out = Actions{}
	c.packed((&Pack{n, n.state}).Do())
	got := make(map[Peer]int)
	for turn := 0; len(s.waiting) > 0; turn++ {
		if turn > maxWaiting {
			t.Fatalf("%d are never answered", len(s.waiting))
		}
		c.out = Actions{}
		c.answerWaiting()
		if len(c.out.Send) > stepAnswers {
			t.Fatalf("%d answers at once", len(c.out.Send))
		}
		for _, e := range c.out.Send {
			got[e.To]++
		}
	}
	if len(got) != maxWaiting {
		t.Errorf("%d of %d were answered", len(got), maxWaiting)
	}
}
