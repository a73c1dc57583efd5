package sim

import (
	"fmt"
	"strings"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Options describe a scenario. Shares are in 1/1024, times in ticks of 50 ms. What is 0 does not happen, or is as said.
type Options struct {
	Seed       uint64
	Natives    int // hubs; the first is the run's origin
	Tabs       int // leaves
	Faulty     int // natives (the last ones) that inflate their own results, also when they lead
	Attacks    []Attack
	Stranger   int       // keys of a stranger that sends any messages, as many a tick
	Forges     bool      // the stranger builds chains, too
	Antithetic bool      // openai-es instead of dises
	Format2    bool      // not format 1: claims may be up to maxStale entries old, and leaders re-run few; snes instead of dises
	Trusted    bool      // a run of trusted keys, those of all natives and tabs
	Mandate    uint64    // entries of one leader; 0: 20
	Learning   *Learning // a real environment in place of synthetic fitness; then Rate is 0

	Ticks coordinator.Tick // of trouble
	Calm  coordinator.Tick // after it, without faults: time to agree again

	// The network.
	WAN        bool // peers lie far apart, and use the protocol's times for that
	Degree     int  // hubs that a hub keeps linked; 0: 32
	TabLinks   int  // links that a tab begins with others
	LinkedOnly bool // messages to peers that are not linked are lost
	DelayMin   int  // of a hop
	DelayMax   int
	Loss       int // messages lost
	Duplicate  int // messages delivered twice
	Upload     int // bytes that a node sends in a tick; 0: no limit
	Download   int // bytes a second that a tab spends on the run, where hubs give it states; 0: 16 KiB

	// The machines.
	Rate       int // evaluations of a native in a tick, a tab has a quarter; 0: 4 to 32, drawn by node
	Signatures int // that a node checks in a tick; 0: no limit
	Fold       int // folding an entry takes a node up to so many ticks; one that needs longer than a generation never catches up
	Sync       int // saving takes a node up to so many ticks

	// How often what fails.
	Partitions int  // the swarm is split in two or three
	OneWay     int  // what a node sends does not arrive
	Flaps      int  // a node's connections come and go
	Crashes    int  // nodes lose power
	Down       int  // at most so many at once; 0: 1
	KillLeader bool // crashes hit the leader
	Disks      int  // a disk is full, or slow
	Stops      int  // a node is stopped for up to 10 s
	Churn      int  // least length of a session; all come and go; 0: they stay
	Joins      int  // natives that come at half time, all at once

	TabsFrom   coordinator.Tick // when the first tab comes
	TabsWithin coordinator.Tick // how long it takes until all are here, one after the other; 0: they come at once, at the start

	Trace func(string) // told what happens
}

// Draw makes a scenario out of a seed.
func Draw(seed uint64) Options {
	rng := noise.NewStream(seed, drawScenario)
	below := func(n int) int { return int(rng.Uint64() % uint64(n)) }
	sometimes := func(one, n int) int { // 1 to n in one of so many cases
		if below(one) > 0 {
			return 0
		}
		return 1 + below(n)
	}
	o := Options{
		Seed: seed, Natives: 3 + below(8), Tabs: below(6), Ticks: 500, Calm: 400,
		DelayMin: 1, DelayMax: 2 + below(4), Loss: below(4) * 50, Duplicate: below(3) * 60,
		Partitions: below(3), Crashes: below(4), KillLeader: below(2) == 0, Antithetic: below(3) == 0,
	}
	o.Faulty = sometimes(3, max(1, o.Natives/3))
	o.Down = 1 + below(max(1, o.Natives/2))
	o.OneWay, o.Flaps, o.Disks, o.Stops = sometimes(3, 2), sometimes(3, 2), sometimes(3, 3), sometimes(4, 2)
	o.Fold, o.Sync = sometimes(3, 4), sometimes(2, 2)
	if below(3) == 0 {
		o.Signatures = 200 << below(4)
	}
	if below(4) == 0 {
		o.Degree = 3 + below(4)
	}
	if below(8) == 0 {
		o.Churn = 60 + below(120)
	}
	o.Joins = sometimes(8, o.Natives)
	o.Stranger = sometimes(2, 40)
	o.Forges = below(2) == 0
	switch below(25) {
	case 0:
		o.Natives, o.Tabs, o.Ticks, o.Calm, o.Degree = 40, 20, 200, 300, 12
	case 1:
		o.Natives, o.Faulty = 2, min(o.Faulty, 1)
	case 2, 3, 4:
		o.WAN, o.Ticks, o.Calm = true, 1200, 1600
	}
	return o
}

// String is a line that a person can read.
func (o Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %#x: %d natives", o.Seed, o.Natives)
	for _, x := range []struct {
		n    int
		text string
	}{
		{o.Faulty, "%d of them faulty"}, {o.Tabs, "%d tabs"}, {o.Stranger, "stranger of %d keys"}, {len(o.Attacks), "%d attacks"},
		{o.Degree, "%d links"}, {o.TabLinks, "%d links between tabs"}, {o.DelayMax, "hops of up to %d"}, {o.Loss, "loss %d"}, {o.Duplicate, "duplicates %d"}, {o.Upload, "upload %d"}, {o.Download, "download of tabs %d"},
		{o.Signatures, "%d signatures a tick"}, {o.Fold, "folds of up to %d"}, {o.Sync, "saves of up to %d"}, {o.Partitions, "%d partitions"},
		{o.OneWay, "%d one-way"}, {o.Flaps, "%d flapping"}, {o.Crashes, "%d crashes"}, {o.Down, "of up to %d"}, {o.Disks, "%d disks fail"},
		{o.Stops, "%d stops"}, {o.Churn, "sessions from %d"}, {o.Joins, "%d join"},
	} {
		if x.n > 0 {
			fmt.Fprintf(&b, ", "+x.text, x.n)
		}
	}
	for _, x := range []struct {
		is   bool
		text string
	}{{o.Format2, "format 2"}, {o.Trusted, "trusted keys"}, {o.WAN, "wide area"}, {o.KillLeader, "leaders crash"}, {o.Antithetic, "openai-es"}} {
		if x.is {
			b.WriteString(", " + x.text)
		}
	}
	return b.String()
}

// Domains of the simulator's noise streams.
const (
	drawScenario = 0x73696d00 + iota
	drawNetwork
	drawKeys
	drawLocal
	drawAttack
)
