// Race has swarms of several sizes learn a world in virtual time, and prints a line of JSON for each run, then a
// table: how long it took to solve the world, how many env-steps, and how much of what the machines can compute was
// logged; and the messages and bytes that an entry took.
//
//	go run ./testnet/bench/race -env LunarLanderContinuous-v3 -peers 1,4,16,64 -runs 3 -plot race.svg
//
// It is the simulator of testnet/sim with real candidates: machines, network and disks are simulated; messages, checks
// and elections are those of nodes. A native has one core, which takes -step for an env-step.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/testnet/sim"
)

// row is a line of the output: one run.
type row struct {
	Env    string    `json:"env"`
	Peers  int       `json:"peers"`
	Tabs   int       `json:"tabs"`
	Seed   uint64    `json:"seed"`
	Format uint64    `json:"format"`
	Lies   *sim.Lies `json:"lies,omitempty"`
	Trust  bool      `json:"trust"`
	sim.Learned
	Messages float64 `json:"messages"` // that reached all natives, for each entry
	Bytes    float64 `json:"bytes"`    // of them
	Wall     float64 `json:"wall"`     // seconds that the simulation took
}

func main() {
	env := flag.String("env", "LunarLanderContinuous-v3", "the world")
	strategy := flag.String("strategy", "", "the strategy; empty: the world's default")
	peers := flag.String("peers", "1,4,16", "how many natives, a list")
	tabs := flag.Int("tabs", 0, "how many tabs each native brings")
	runs := flag.Int("runs", 1, "runs of each size, with seeds from -seed on")
	seed := flag.Uint64("seed", 3000, "the first seed")
	step := flag.Duration("step", 20*time.Microsecond, "that an env-step takes")
	limit := flag.Duration("limit", time.Hour, "virtual time after which a run counts as unsolved")
	format := flag.Uint64("format", seedlog.Format2, "format of the runs, 1 or 2")
	trust := flag.Bool("trust", false, "the natives are trusted keys of one owner")
	wan := flag.Bool("wan", false, "peers lie up to 200 ms apart")
	delay := flag.Int("delay", 1, "ticks of 50 ms that a hop takes at most")
	nearest := flag.Int("least-delay", 1, "ticks of 50 ms that a hop takes at least")
	speed := flag.String("speeds", "1", "how many times as fast as -step natives are, a list, by turns")
	stay := flag.Duration("sessions", 0, "least length of a session: half of them last up to twice as long, one in a hundred a hundred times; 0: all stay")
	upload := flag.Int("upload", 62_500, "bytes that a node sends in a tick of 50 ms (62,500: 10 Mbit/s)")
	warm := flag.Duration("warm", 0, "virtual time at first that the figures of later leave out; 0: that before entry 50")
	endless := flag.Bool("endless", false, "continue until -limit though the world is solved")
	generation := flag.Duration("generation", 0, "how long a generation lasts at least; 0: as in a new run")
	lying := flag.String("lying", "0", "which shares of the peers' computing lies, a list: of each a run of every kind and seed")
	lie := flag.String("lie", "", "how, a list of "+strings.Join(sim.LieKinds(), ", ")+"; empty: all")
	honest := flag.Int("honest", -1, "results that each faulty peer's key claims truly before; -1: what the kind of lie has")
	least := flag.Uint64("least", 0, "entries that a run has at least, also when it has solved the world before")
	trace := flag.Bool("trace", false, "tell what happens")
	count := flag.Duration("count", 0, "do not learn: let each swarm run for so long, then count the messages of as long again")
	traffic := flag.Bool("traffic", false, "print what natives send and get, by the type of message")
	picture := flag.String("plot", "", "also draw speed and use against the number of peers to this file, .svg or .png")
	flag.Parse()
	if *endless {
		*least = math.MaxUint64
	}
	if *count > 0 {
		fmt.Println("| peers | entries | evaluations each | seconds each | claims | KB | entries given | KB | all else | KB | all | KB |\n" +
			"|---|---|---|---|---|---|---|---|---|---|---|---|")
	}
	var speeds []float64
	for _, text := range strings.Split(*speed, ",") {
		x, err := strconv.ParseFloat(text, 64)
		if err == nil && !(x >= 0.001 && x <= 10_000) {
			err = fmt.Errorf("-speeds: %s is not from 0.001 to 10000", text)
		}
		if err != nil {
			fatal(err)
		}
		speeds = append(speeds, x)
	}
	var rows []row
	for _, text := range strings.Split(*peers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			fatal(err)
		}
		for k := range *runs {
			for _, lies := range lyingOf(*lying, *lie, *honest) {
				o := sim.Options{
					Seed: *seed + uint64(k), Natives: n, Tabs: n * *tabs, WAN: *wan, DelayMin: *nearest, DelayMax: max(*delay, *nearest), Churn: int(ticks(*stay)), Ticks: ticks(*limit), Upload: *upload, Trusted: *trust,
					Learning: &sim.Learning{StepNS: int(step.Nanoseconds()), Speeds: speeds, Warm: ticks(*warm), Lies: lies, Least: *least,
						Run: runspec.Options{Env: *env, Strategy: *strategy, Seed: *seed + uint64(k), Format: *format, GenerationMS: uint64(generation.Milliseconds())}},
				}
				if *trace {
					o.Trace = func(line string) { fmt.Fprintln(os.Stderr, line) }
				}
				begun := time.Now()
				s, err := sim.New(o)
				if err != nil {
					fatal(err)
				}
				if *count > 0 {
					if err := countMessages(s, n, ticks(*count)); err != nil {
						fatal(err)
					}
					continue
				}
				learned, err := s.Learn(ticks(*limit))
				if err != nil {
					fatal(err)
				}
				r := row{Env: *env, Peers: n, Tabs: n * *tabs, Seed: o.Seed, Format: *format, Lies: lies, Trust: *trust, Learned: learned, Wall: time.Since(begun).Seconds()}
				for i := range n {
					messages, bytes := s.Got(i, 0)
					r.Messages += float64(messages) / float64(max(learned.Entries, 1))
					r.Bytes += float64(bytes) / float64(max(learned.Entries, 1))
				}
				rows = append(rows, r)
				line, _ := json.Marshal(r)
				fmt.Println(string(line))
				if *traffic {
					printTraffic(s, n)
				}
			}
		}
	}
	switch {
	case *lying != "0":
		tableOfLies(rows)
	case len(rows) > 0:
		table(rows)
		if *picture != "" {
			if err := draw(rows, *picture); err != nil {
				fatal(err)
			}
		}
	}
}

// countMessages lets a swarm run for so many ticks, then prints what reached its natives in as many more, for each
// entry: messages and kilobytes of claims, of entries, and of all else, which are signs of life and questions.
func countMessages(s *sim.Swarm, natives int, ticks coordinator.Tick) error {
	const all, claims, entries = 0, 4, 7
	got := func(kind byte) (messages, bytes float64) {
		for i := range natives {
			m, b := s.Got(i, kind)
			messages, bytes = messages+float64(m), bytes+float64(b)
		}
		return messages, bytes
	}
	if err := s.Run(ticks); err != nil {
		return err
	}
	var before [8][2]float64
	for _, kind := range []byte{all, claims, entries} {
		before[kind][0], before[kind][1] = got(kind)
	}
	was := s.Snapshot(0)
	if err := s.Run(ticks); err != nil {
		return err
	}
	is := s.Snapshot(0)
	n := float64(max(is.Height-was.Height, 1))
	fmt.Printf("| %d | %.0f | %.1f | %.2f |", natives, n, float64(is.Evaluations-was.Evaluations)/n, float64(ticks)/20/n)
	rest := [2]float64{}
	for _, kind := range []byte{claims, entries, all} {
		m, b := got(kind)
		m, b = m-before[kind][0], b-before[kind][1]
		if kind == all {
			m, b = m-rest[0], b-rest[1]
		}
		rest[0], rest[1] = rest[0]+m, rest[1]+b
		fmt.Printf(" %.1f | %.1f |", m/n, b/n/1e3)
	}
	fmt.Printf(" %.1f | %.1f |\n", rest[0]/n, rest[1]/n/1e3)
	return nil
}

// printTraffic prints kilobytes by the type of message (docs/spec/protocol.md has the numbers; 0 is all): what the
// first native sent and got, and what natives did on average.
func printTraffic(s *sim.Swarm, natives int) {
	const mostTypes = 32
	fmt.Println("\n| type | first sent, KB | all sent | first got | all got |\n|---|---|---|---|---|")
	for kind := range byte(mostTypes) {
		_, sent := s.Sent(0, kind)
		_, got := s.Got(0, kind)
		var allSent, allGot uint64
		for i := range natives {
			_, out := s.Sent(i, kind)
			_, in := s.Got(i, kind)
			allSent, allGot = allSent+out, allGot+in
		}
		if allSent > 0 {
			per := float64(natives) * 1e3
			fmt.Printf("| %d | %.0f | %.0f | %.0f | %.0f |\n", kind, float64(sent)/1e3, float64(allSent)/per, float64(got)/1e3, float64(allGot)/per)
		}
	}
}

// table prints the medians of each size.
func table(rows []row) {
	fmt.Println("\n| peers | solved | seconds | speedup | env-steps | generations | logged of possible | checks | lost | later: logged, checks, lost | messages | KB |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
	var alone float64
	for _, size := range bySize(rows) {
		solved := 0
		for _, r := range size {
			if r.Solved {
				solved++
			}
		}
		seconds := median(size, func(r row) float64 { return r.Seconds })
		if alone == 0 {
			alone = seconds * float64(size[0].Peers)
		}
		fmt.Printf("| %d | %d of %d | %.1f | %.1f | %.3g | %.0f | %.2f | %.2f | %.2f | %.2f, %.2f, %.2f | %.0f | %.1f |\n", size[0].Peers, solved, len(size), seconds, alone/seconds,
			median(size, func(r row) float64 { return float64(r.Steps) }), median(size, func(r row) float64 { return float64(r.Entries) }),
			median(size, func(r row) float64 { return r.Logged }), median(size, func(r row) float64 { return r.Checks }), median(size, func(r row) float64 { return r.Lost }),
			median(size, func(r row) float64 { return r.Later.Logged }), median(size, func(r row) float64 { return r.Later.Checks }), median(size, func(r row) float64 { return r.Later.Lost }),
			median(size, func(r row) float64 { return r.Messages }), median(size, func(r row) float64 { return r.Bytes / 1e3 }))
	}
}

func median(rows []row, of func(row) float64) float64 {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = of(r)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func ticks(d time.Duration) coordinator.Tick { return coordinator.Tick(d / (50 * time.Millisecond)) }

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "race:", err)
	os.Exit(1)
}
