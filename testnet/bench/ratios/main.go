// Ratios prints a table like that of Salimans et al., "Evolution Strategies as a Scalable Alternative to Reinforcement
// Learning" (2017), table 1: how many times TRPO's env-steps the mean learning curve of a sweep takes to reach 25, 50,
// 75 and 100 % of TRPO's final return.
//
//	evonode sweep Swimmer-v5 --seeds 30000-30005 --until steps=2000000 -o FOLDER/Swimmer-v5.csv      # and others
//	go run ./testnet/bench/ratios FOLDER/*.csv
//
// TRPO's returns and env-steps are those of the paper's table 3, in version 1 of the worlds and MuJoCo 1. The mean is
// over the seeds of the sweep, of held-out episodes of the mean policy.
package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/node/sweep"
)

// reached is a share of what TRPO learned.
type reached struct {
	ret   float64 // mean return
	trpo  float64 // TRPO's env-steps to it
	paper float64 // those of the paper's evolution strategy, over TRPO's
}

// paper has the shares of 25, 50, 75 and 100 % for each world of tables 1 and 3. Three quarters of Swimmer read 89.66
// there, which is no quarter; 99.66 is.
var paper = map[string][4]reached{
	"HalfCheetah":            {{-1.35, 9.05e5, 0.15}, {793.55, 1.70e6, 0.49}, {1589.83, 3.34e6, 0.42}, {2385.79, 5.00e6, 0.58}},
	"Hopper":                 {{877.45, 7.29e5, 0.53}, {1718.16, 1.03e6, 3.64}, {2561.11, 1.59e6, 6.05}, {3403.46, 4.56e6, 6.94}},
	"InvertedDoublePendulum": {{2358.98, 8.73e5, 0.46}, {4609.68, 9.65e5, 0.48}, {6874.03, 1.07e6, 0.49}, {9104.07, 4.39e6, 1.23}},
	"InvertedPendulum":       {{276.59, 2.21e5, 0.28}, {519.15, 2.73e5, 0.52}, {753.17, 3.25e5, 0.78}, {1000.00, 5.17e5, 0.88}},
	"Swimmer":                {{41.97, 1.04e6, 0.56}, {70.73, 1.82e6, 0.47}, {99.66, 2.33e6, 0.53}, {128.25, 4.59e6, 0.30}},
	"Walker2d":               {{957.68, 1.55e6, 0.41}, {1916.48, 2.27e6, 5.69}, {2872.81, 2.89e6, 8.02}, {3830.03, 4.81e6, 7.88}},
}

func main() {
	if len(os.Args) < 2 {
		fatal(fmt.Errorf("want tables of evonode sweep, next to their learning curves"))
	}
	lines := []string{"| environment | what | seeds | 25 % | 50 % | 75 % | 100 % |", "|---|---|---|---|---|---|---|"}
	shown := map[string]bool{}
	for _, name := range os.Args[1:] {
		if strings.HasSuffix(name, ".curves.csv") {
			continue
		}
		g, err := sweep.ReadGroup(name)
		if err != nil {
			fatal(err)
		}
		if len(g.Rows) == 0 || len(g.Curves) == 0 {
			fatal(fmt.Errorf("%s: no runs with learning curves", name))
		}
		world, _, _ := strings.Cut(g.Rows[0].Env, "-v")
		shares, ok := paper[world]
		if !ok {
			fatal(fmt.Errorf("%s: %s is not in the paper's table", name, g.Rows[0].Env))
		}
		if !shown[world] {
			shown[world] = true
			lines = append(lines, line(world, "the paper's ES", "6", shares, func(s reached) string { return fmt.Sprintf("%.2f", s.paper) }))
		}
		mean := meanCurve(g.Curves)
		lines = append(lines, line(world, "**"+g.Rows[0].Strategy+"**", fmt.Sprint(len(g.Curves)), shares, func(s reached) string { return ratio(mean, s) }))
	}
	fmt.Println(strings.Join(lines, "\n"))
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "ratios:", err)
	os.Exit(1)
}

func line(world, what, seeds string, shares [4]reached, cell func(reached) string) string {
	cells := []string{world, what, seeds}
	for _, s := range shares {
		cells = append(cells, cell(s))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// ratio is after how many of TRPO's env-steps the curve is at the return, with two digits.
func ratio(mean []sweep.Point, s reached) string {
	for _, p := range mean {
		if p.Return >= s.ret {
			return fmt.Sprintf("%.2g", float64(p.Steps)/s.trpo)
		}
	}
	return fmt.Sprintf("not by %.2g (%.0f)", float64(mean[len(mean)-1].Steps)/s.trpo, highest(mean))
}

func highest(curve []sweep.Point) float64 {
	return slices.MaxFunc(curve, func(a, b sweep.Point) int { return cmp.Compare(a.Return, b.Return) }).Return
}

// meanCurve is the mean of the curves wherever one of them has a point, from where all have one. A curve that ended
// stays at its last return.
func meanCurve(curves sweep.Curves) []sweep.Point {
	var begin uint64
	var at []uint64
	for _, points := range curves {
		begin = max(begin, points[0].Steps)
		for _, p := range points {
			at = append(at, p.Steps)
		}
	}
	slices.Sort(at)
	var seeds []uint64
	for seed := range curves {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds) // a sum has one order
	var mean []sweep.Point
	for _, x := range slices.Compact(at) {
		if x < begin {
			continue
		}
		sum := 0.0
		for _, seed := range seeds {
			sum += sweep.At(curves[seed], float64(x))
		}
		mean = append(mean, sweep.Point{Steps: x, Return: sum / float64(len(seeds))})
	}
	return mean
}
