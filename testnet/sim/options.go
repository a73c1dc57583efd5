package sim

import (
	"fmt"
	"strings"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Options describe a scenario. Shares are in 1/1024, times in ticks of 50 ms.
type Options struct {
	Seed       uint64
	Natives    int              // hubs, all connected with each other
	Tabs       int              // leaves, each attached to one hub
	Faulty     int              // natives (the last ones) that inflate their own results, also when they lead
	Ticks      coordinator.Tick // of trouble
	Calm       coordinator.Tick // after it, without faults: time to agree again
	DelayMin   int
	DelayMax   int
	Loss       int    // messages lost
	Duplicate  int    // messages delivered twice
	Partitions int    // how often the natives are split in two for a while
	Crashes    int    // how often a node loses power and comes back
	KillLeader bool   // crashes hit the leader
	Fold       int    // folding an entry takes a node up to so many ticks; a node that needs longer than a generation never catches up
	Mandate    uint64 // entries of one leader; 0: 20
	Antithetic bool   // openai-es instead of dises
}

// Draw makes a scenario out of a seed.
func Draw(seed uint64) Options {
	rng := noise.NewStream(seed, drawScenario)
	below := func(n int) int { return int(rng.Uint64() % uint64(n)) }
	o := Options{
		Seed: seed, Natives: 3 + below(8), Tabs: below(6), Ticks: 500, Calm: 400,
		DelayMin: 1, DelayMax: 2 + below(4), Loss: below(4) * 50, Duplicate: below(3) * 60,
		Partitions: below(3), Crashes: below(4), KillLeader: below(2) == 0, Antithetic: below(3) == 0,
	}
	if below(3) == 0 {
		o.Faulty = 1 + below(max(1, o.Natives/3))
	}
	switch below(25) {
	case 0:
		o.Natives, o.Tabs, o.Ticks, o.Calm = 60, 20, 200, 300
	case 1:
		o.Natives, o.Faulty = 2, min(o.Faulty, 1)
	}
	if below(3) == 0 {
		o.Fold = 1 + below(4)
	}
	return o
}

// String is a line that a person can read.
func (o Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %#x: %d natives (%d faulty), %d tabs, delay %d-%d, loss %d, duplicates %d, %d partitions, %d crashes", o.Seed, o.Natives, o.Faulty, o.Tabs, o.DelayMin, o.DelayMax, o.Loss, o.Duplicate, o.Partitions, o.Crashes)
	if o.KillLeader {
		b.WriteString(" of leaders")
	}
	if o.Fold > 0 {
		fmt.Fprintf(&b, ", folds of up to %d", o.Fold)
	}
	if o.Antithetic {
		b.WriteString(", openai-es")
	}
	return b.String()
}

// Domains of the simulator's noise streams.
const (
	drawScenario = 0x73696d00 + iota
	drawNetwork
	drawKeys
	drawLocal
)
