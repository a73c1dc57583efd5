package sim

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
)

var (
	seeds = flag.Uint64("sim.seeds", 50, "how many seeds TestSeeds runs")
	start = flag.Uint64("sim.first", 0, "the first of them")
	trace = flag.Bool("sim.trace", false, "tell what happens, tick by tick; with -sim.seed")
	old   = flag.Bool("sim.format1", false, "run format 1 alone")
	only  = flag.String("sim.seed", "", "run this one seed alone, such as 0x2a")
)

// night is how many seeds a run has that has time for more.
const night = 1000

func TestSeeds(t *testing.T) {
	t.Parallel() // with TestCrowd
	first, last := *start, *start+*seeds
	if testing.Short() {
		last = min(last, first+10)
	}
	if *only != "" {
		first = parseSeed(t, *only)
		last = first + 1
	}
	for seed := first; seed < last; seed++ {
		t.Run(fmt.Sprintf("%#x", seed), func(t *testing.T) {
			t.Parallel()
			o := Draw(seed)
			play(t, o, fmt.Sprintf("TestSeeds -sim.format1 -sim.seed %#x", seed))
			if o.Format2 = true; !*old {
				play(t, o, fmt.Sprintf("TestSeeds -sim.seed %#x", seed))
			}
		})
	}
}

// TestCrowd is the largest swarm: 200 peers, a crash of the leader and a partition.
func TestCrowd(t *testing.T) {
	if *seeds < night {
		t.Skip("200 peers take a minute of two cores: they are part of make night")
	}
	t.Parallel()
	play(t, Options{Seed: 200, Natives: 120, Tabs: 80, Ticks: 120, Calm: 160, DelayMin: 1, DelayMax: 3, Loss: 20, Partitions: 1, Crashes: 1, KillLeader: true}, "TestCrowd")
}

// play runs a scenario and names the line that plays it again.
func play(t *testing.T, o Options, again string) {
	t.Helper()
	if *trace {
		o.Trace = func(line string) { t.Log(line) }
	}
	report, err := Run(o)
	if err != nil {
		t.Fatalf("%v\nreproduce: go test ./testnet/sim -run %s", err, again)
	}
	t.Logf("%v: %+v", o, report)
}

func parseSeed(t *testing.T, s string) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatalf("-sim.seed: %v", err)
	}
	return seed
}
