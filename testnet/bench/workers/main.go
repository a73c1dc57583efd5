// Workers shows what learning alone makes of a swarm: workers under virtual clocks that compute candidates of a real
// world all the time, each on the newest state that it knows, and an update of what came since the last one. There is
// no network, no election and no check, only the way of a result and of a state:
//
//	go run ./testnet/bench/workers -env BipedalWalker-v3 -step 1ms -workers 64,256 -every 400ms
//
// With -wait all workers wait for each update, which has one result of each: the fewest updates that learning needs.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

func main() {
	env := flag.String("env", "BipedalWalker-v3", "the world")
	workers := flag.String("workers", "64", "how many, a list")
	runs := flag.Int("runs", 1, "of each number of workers, with a seed each")
	seed := flag.Uint64("seed", 3000, "of the first run")
	step := flag.Duration("step", time.Millisecond, "what an env-step takes")
	every := flag.Duration("every", 400*time.Millisecond, "how long an update takes at least")
	way := flag.Duration("way", 200*time.Millisecond, "what a result takes to the update, and a state to a worker")
	wait := flag.Bool("wait", false, "have all workers wait for each update")
	limit := flag.Duration("limit", 200*time.Second, "virtual time of a run")
	steps := flag.Float64("steps", 50, "env-steps of a run at most, in millions")
	ends := flag.Float64("cap", -1, "end episodes after that many times the mean length of results, 0: never; default: as the preset")
	flag.Parse()
	if *runs < 1 || *steps <= 0 {
		fatal(fmt.Errorf("-runs must be from 1, and -steps above 0"))
	}
	if *step <= 0 || *every <= 0 || *way < 0 || *limit <= 0 {
		fatal(fmt.Errorf("-step, -every and -limit must be above 0, and -way 0 at least"))
	}
	sizes, err := sizesOf(*workers, *wait)
	if err != nil {
		fatal(err)
	}
	fmt.Println("| workers | seed | seconds | updates | M env-steps | returns of the mean | of candidates | env-steps of an episode | age |\n|---|---|---|---|---|---|---|---|---|")
	for _, n := range sizes {
		for k := range uint64(*runs) {
			options := runspec.Options{Env: *env, Seed: *seed + k, Nonce: [16]byte{1}}
			if *ends >= 0 {
				options.Settings = runspec.Settings{"cap": *ends}
			}
			rules, err := runspec.New(options)
			if err != nil {
				fatal(err)
			}
			c := peers{size: n, step: step.Seconds(), every: every.Seconds(), way: way.Seconds()}
			l := newLearner(rules, *seed+k)
			l.told = func(t test) { fmt.Printf("| %d | %d | %s |\n", n, *seed+k, t) }
			over := func(now float64) bool { return l.solved || now >= limit.Seconds() || float64(l.steps) >= *steps*1e6 }
			if *wait {
				c.together(l, over)
			} else {
				c.apart(l, over)
			}
		}
	}
}

// sizesOf reads how many workers each run has.
func sizesOf(list string, wait bool) ([]int, error) {
	var sizes []int
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-workers: %q is not a number from 1", text)
		}
		if wait && n < fewest {
			return nil, fmt.Errorf("-workers: with -wait an update has a result of each, so there must be %d at least, not %d", fewest, n)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "workers:", err)
	os.Exit(1)
}
