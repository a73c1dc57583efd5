// Flow simulates swarms of hubs and tabs in virtual time, and prints what passes through their machines in a second, a
// line of JSON for each size: bytes of a tab, of a hub and of the leader, signatures and time that leading takes.
//
//	go run ./testnet/bench/flow -hubs 5 -tabs 100,400,2000 -step 1ms
//
// It is the simulator of testnet/sim: messages, checks and elections are those of nodes; results are invented, so
// nothing is learned. A tab takes four times as long for an env-step as a hub.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/testnet/sim"
)

// row is a line of the output: one size.
type row struct {
	Env  string `json:"env"`
	Hubs int    `json:"hubs"`
	Tabs int    `json:"tabs"`
	sim.Flow
	Wall float64 `json:"wall"` // seconds that the simulation took
}

func main() {
	env := flag.String("env", "LunarLanderContinuous-v3", "the world, for the size of the policy")
	hubs := flag.Int("hubs", 5, "how many hubs")
	tabs := flag.String("tabs", "100", "how many tabs in all, a list")
	step := flag.Duration("step", time.Millisecond, "that an env-step takes a hub")
	warm := flag.Duration("warm", 20*time.Second, "virtual time before it is measured")
	measured := flag.Duration("for", 20*time.Second, "virtual time that is measured")
	times := flag.Int("times", 1, "how often it is measured, one after the other; a line each")
	from := flag.Duration("from", 0, "virtual time after which the first tab comes")
	within := flag.Duration("within", 0, "virtual time in which all tabs come, one after the other; 0: all at once at the start")
	upload := flag.Int("upload", 0, "bytes that a node sends in a tick of 50 ms; 0: no limit")
	format := flag.Uint64("format", seedlog.Format2, "format of the run, 1 or 2")
	seed := flag.Uint64("seed", 3000, "of the swarm")
	trace := flag.Bool("trace", false, "tell what happens")
	traffic := flag.Bool("traffic", false, "print bytes by the type of message")
	flag.Parse()
	clock := processorClock()
	for _, text := range strings.Split(*tabs, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			fatal(err)
		}
		o := sim.Options{
			Seed: *seed, Natives: *hubs, Tabs: n, DelayMin: 1, DelayMax: 1, Upload: *upload, TabsFrom: ticks(*from), TabsWithin: ticks(*within),
			Learning: &sim.Learning{StepNS: int(step.Nanoseconds()), Invented: true, Run: runspec.Options{Env: *env, Seed: *seed, Format: *format}},
		}
		if *trace {
			o.Trace = func(line string) { fmt.Fprintln(os.Stderr, line) }
		}
		begun := time.Now()
		s, err := sim.New(o)
		if err != nil {
			fatal(err)
		}
		if _, err = s.Measure(ticks(*warm), nil); err != nil {
			fatal(err)
		}
		for range *times {
			f, err := s.Measure(ticks(*measured), clock)
			if err != nil {
				fatal(err)
			}
			line, _ := json.Marshal(row{*env, *hubs, n, f, time.Since(begun).Seconds()})
			fmt.Println(string(line))
		}
		if *traffic {
			printTraffic(s, *hubs, n)
		}
	}
}

// printTraffic prints kilobytes by the type of message since the start, of a hub and of a tab on average.
func printTraffic(s *sim.Swarm, hubs, tabs int) {
	const mostTypes = 32
	fmt.Println("\n| type | hub sends, KB | hub gets | tab sends | tab gets |\n|---|---|---|---|---|")
	for kind := range byte(mostTypes) {
		var sums [4]float64
		for i := range hubs + tabs {
			_, out := s.Sent(i, kind)
			_, in := s.Got(i, kind)
			if i < hubs {
				sums[0], sums[1] = sums[0]+float64(out)/float64(hubs), sums[1]+float64(in)/float64(hubs)
			} else {
				sums[2], sums[3] = sums[2]+float64(out)/float64(tabs), sums[3]+float64(in)/float64(tabs)
			}
		}
		if sums[0]+sums[1]+sums[2] > 0 {
			fmt.Printf("| %d | %.1f | %.1f | %.1f | %.1f |\n", kind, sums[0]/1e3, sums[1]/1e3, sums[2]/1e3, sums[3]/1e3)
		}
	}
}

func ticks(d time.Duration) coordinator.Tick { return coordinator.Tick(d / (50 * time.Millisecond)) }

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "flow:", err)
	os.Exit(1)
}
