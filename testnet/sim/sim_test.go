package sim

import (
	"flag"
	"strconv"
	"testing"
)

var (
	seeds = flag.Uint64("sim.seeds", 50, "how many seeds TestSeeds runs, from 0 up")
	only  = flag.String("sim.seed", "", "run this one seed alone, such as 0x2a")
)

func TestSeeds(t *testing.T) {
	first, last := uint64(0), *seeds
	if *only != "" {
		first = parseSeed(t, *only)
		last = first + 1
	}
	for seed := first; seed < last; seed++ {
		o := Draw(seed)
		report, err := Run(o)
		if err != nil {
			t.Errorf("%v\nreproduce: go test ./testnet/sim -run TestSeeds -sim.seed %#x", err, seed)
			continue
		}
		t.Logf("%v: %+v", o, report)
	}
}

func parseSeed(t *testing.T, s string) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatalf("-sim.seed: %v", err)
	}
	return seed
}
