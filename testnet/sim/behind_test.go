package sim

import (
	"fmt"
	"testing"
)

// TestFarBehind: who joins a swarm whose entries take it a third of the time to verify catches up, and does not have
// the same sent to it again and again meanwhile: by peers that are asked while an answer is still checked, or on its
// way.
func TestFarBehind(t *testing.T) {
	const segment = 7 // the number of the message's type
	for _, c := range []struct {
		hop           int    // ticks of 50 ms
		behind, bytes uint64 // entries, and KB for each that is here, at most
	}{{1, 20, 50}, {10, 200, 120}} {
		t.Run(fmt.Sprintf("%d ms", 50*c.hop), func(t *testing.T) {
			t.Parallel()
			s := mustNew(t, Options{Seed: 3000, Natives: 20, Format2: true, Joins: 1, Signatures: 60, DelayMin: c.hop, DelayMax: c.hop, Ticks: 140 * second})
			s.plan()
			if err := s.run(140 * second); err != nil {
				t.Fatal(err)
			}
			n, high := s.nodes[19], s.highest().Height
			at, bytes := n.coord.Snapshot().Height, n.traffic.in[segment]
			t.Logf("at height %d of %d, %d answers, %d KB for each entry", at, high, n.traffic.got[segment], bytes/at>>10)
			if at+c.behind < high {
				t.Errorf("at height %d of %d after 70 s", at, high)
			}
			if bytes > at*c.bytes<<10 {
				t.Errorf("%d KB for each entry came", bytes/at>>10)
			}
		})
	}
}
