package sim

import (
	"encoding/binary"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// braggart says that it has chains of a weight and height that nobody has, and never answers.
type braggart struct {
	stranger
	keys int
	said uint64
}

// Act implements Adversary.
func (b *braggart) Act(a *Actor) {
	best := a.Best()
	for a.left >= len(a.swarm.nodes) {
		key := a.Below(b.keys)
		b.said++
		b.deeds++
		status := &coordinator.Status{Hub: key%2 == 0, Kind: coordinator.Kind(key % 3 / 2), Term: best.Term, Height: 1 << 40, Weight: 1 << 60, Leaves: 1 << 40,
			Head: seedlog.LinkOf(binary.LittleEndian.AppendUint64(nil, b.said/uint64(1+a.Below(3))))}
		if a.Below(2) == 0 {
			status.Height, status.Weight = best.Height+uint64(a.Below(4)), best.Weight+1
		}
		for _, v := range a.targets() {
			a.Send(key, v.Index, status)
		}
	}
}
