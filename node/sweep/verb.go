package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/chart"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode sweep.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "sweep", Args: "ENV", Summary: "train many seeds, and compare",
		Intro: `Trains many seeds of the same settings, several at a time, and says how many solve the environment and what that takes.
Each run is the one that evonode train of its seed gives, with the same head.`,
		Usage: []string{"sweep ENV [--seeds 0-9] [--strategy S] [--config FILE.toml] [flags]", "sweep compare A.csv B.csv [--json]"},
		Details: `A run that does not solve the environment counts as infinite in medians and quartiles (null in JSON, "never" in the table).
The seconds of a run are from before its log is opened until it is fsynced and closed (those of evonode train are of the
whole process); runs side by side slow each other down: --jobs 1 gives the seconds of a run alone.`,
		Notes: `sweep compare says how the medians of B differ from those of A, as difference (B - A) and ratio (B / A), with 95 %
percentile bootstrap intervals: 10,000 resamples of each table, fixed seed. FILEs of other programs do too, if they are CSV
with the columns seed, solved, steps and seconds. With --json: a, b (summaries), rate {value, low, high}, costs: measure, a,
b, difference {value, low, high}, ratio {value, low, high}, better (a, b or unclear).`,
		Example: "evonode sweep CartPole-v1 --seeds 0-9 -o cart.csv --plot cart.svg",
		Bind: func(fs *verb.Flags) verb.Run {
			f := sweepFlags{seeds: "0-9", until: "solved"}
			fs.String(&f.seeds, "seeds", "LIST", "such as 0-9 (default) or 3,5,10-19")
			f.spec.Bind(fs)
			fs.Hide("seed")
			fs.String(&f.config, "config", "FILE", "take what no flag says from a TOML file, as evonode train does, but for its seed")
			fs.String(&f.until, "until", "WHEN", "what ends each run, as of evonode train (default: solved). A sweep always ends: where no limit is "+
				"given, a run ends after the env-steps of 10,000 episodes of full length")
			fs.Int(&f.jobs, "jobs", "N", "runs at a time (default 0: as many as there are cores)", 0)
			fs.Workers(&f.workers, "cores of each run")
			fs.String(&f.out, "o", "FILE", "write the table to FILE.csv or FILE.json, after each run, and the learning curves to FILE.curves.csv; "+
				"evonode plot draws them. An existing table of the same sweep is continued: its finished runs are taken over")
			fs.String(&f.logs, "logs", "DIR", "keep the logs, as DIR/ENV-STRATEGY-SEED.seedlog; interrupted runs continue from theirs")
			fs.String(&f.plot, "plot", "FILE", "draw the learning curve and the share of solved runs against env-steps, as FILE.png or FILE.svg; see evonode plot")
			fs.String(&f.compare, "compare", "FILE", "and compare: as sweep compare FILE with this sweep, and in the plot")
			fs.JSON(&f.json, "one JSON object per run: env, strategy, and all that the last line of evonode train --json has; and a last one: summary "+
				"(true), env, strategy, until, runs, solved, rate, steps_median, seconds_median, quartiles {steps, seconds}: [lower, median, upper], "+
				"return_median, left")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				if len(args) > 0 && args[0] == "compare" {
					return f.compareFiles(s, args[1:], fs.AllGiven())
				}
				if fs.Given("seed") {
					return verb.Misused("--seed with sweep", "did you mean --seeds "+fmt.Sprint(f.spec.Seed)+"?")
				}
				env, err := f.spec.World(s, fs, f.config, args, "evonode sweep CartPole-v1 --seeds 0-9")
				if err != nil {
					return err
				}
				p, err := f.plan(env)
				if err != nil {
					return err
				}
				return p.run(ctx, s)
			}
		},
	}
}

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	spec          settings.Flags
	seeds, until  string
	jobs, workers int
	out, plot     string
	logs, compare string
	config        string
	json          bool
}

// capEpisodes bounds each run for which the user sets no limit, to the env-steps of that many episodes of full length.
const capEpisodes = 10000

// sweepPlan is a sweep whose settings were checked.
type sweepPlan struct {
	*sweepFlags
	options runspec.Options
	seeds   []uint64
	specs   map[uint64]*seedlog.Spec // of each seed asked for
	until   solo.Until
	rows    []Row  // of the table, sorted by seed
	curves  Curves // of the rows, and of what is running
	other   Group  // of --compare
}

// plan checks everything that can be checked before the first run.
func (f *sweepFlags) plan(env string) (*sweepPlan, error) {
	p := &sweepPlan{sweepFlags: f, specs: map[uint64]*seedlog.Spec{}, curves: Curves{}}
	var err error
	if p.seeds, err = parseSeeds(f.seeds); err != nil {
		return nil, err
	}
	if p.until, err = settings.ParseUntil(f.until); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if p.options, err = f.spec.Options(env); err != nil {
		return nil, err
	}
	for _, seed := range p.seeds {
		if p.specs[seed], err = p.specOf(seed); err != nil {
			return nil, settings.Error(err)
		}
	}
	rules, err := seedlog.NewRules(p.specs[p.seeds[0]])
	if err != nil {
		return nil, err
	}
	if p.until.Evaluations == 0 && p.until.Steps == 0 && p.until.Duration == 0 {
		p.until.Steps = capEpisodes * uint64(rules.Env.MaxSteps)
	}
	if f.compare != "" {
		if p.other, err = ReadGroup(f.compare); err != nil {
			return nil, err
		}
	}
	return p, p.takeOver()
}

// check refuses flags with bad values.
func (f *sweepFlags) check() error {
	if f.out != "" && !Known(f.out) {
		return verb.Misused(fmt.Sprintf("-o %s", f.out), "a table is written to a file that ends in .csv or .json")
	}
	if _, err := chart.FormatOf(f.plot); f.plot != "" && err != nil {
		return verb.Misused(fmt.Sprintf("--plot %s", f.plot), "a plot is written to a file that ends in .png or .svg")
	}
	for _, name := range []string{f.out, f.plot} { // now, not after hours
		if name == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			return verb.Failed(fmt.Errorf("%s: no folder to write it to", name), "make the folder, or name another one")
		}
	}
	return nil
}

// specOf returns the spec of the run of one seed.
func (p *sweepPlan) specOf(seed uint64) (*seedlog.Spec, error) {
	o := p.options
	o.Seed = seed
	return runspec.NewSpec(o)
}

// takeOver reads an existing table, which must be of this sweep.
func (p *sweepPlan) takeOver() error {
	if p.out == "" {
		return nil
	}
	before, err := ReadGroup(p.out)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return verb.Failed(err, "name another file with -o, or remove this one")
	}
	for _, r := range before.Rows {
		spec, err := p.specOf(r.Seed)
		if err != nil {
			return err
		}
		const hint = "give the settings of the table, or another file with -o"
		if r.Run != spec.Link().String() {
			return verb.Failed(fmt.Errorf("%s holds another sweep: its seed %d is run %s, here it would be %s", p.out, r.Seed, r.Run, spec.Link()), hint)
		}
		if until := settings.UntilText(p.until); r.Until != until {
			return verb.Failed(fmt.Errorf("%s holds another sweep: its runs end with %s, here they would with %s", p.out, r.Until, until), hint)
		}
	}
	p.rows, p.curves = before.Rows, before.Curves
	p.sort()
	return nil
}

func (p *sweepPlan) sort() {
	slices.SortFunc(p.rows, func(a, b Row) int {
		if a.Seed < b.Seed {
			return -1
		}
		return 1
	})
}

// asked returns the rows of the requested seeds.
func (p *sweepPlan) asked() []Row {
	var rows []Row
	for _, r := range p.rows {
		if p.specs[r.Seed] != nil {
			rows = append(rows, r)
		}
	}
	return rows
}

// config says which runs are left, and how to run them.
func (p *sweepPlan) config(dir string) Config {
	cfg := Config{Until: p.until, Name: settings.UntilText(p.until), Jobs: p.jobs, Workers: p.workers, Dir: dir, Keep: p.logs != "", Before: map[uint64]float64{}}
	done := map[uint64]bool{}
	for _, r := range p.rows {
		done[r.Seed] = r.Done
		if spec := p.specs[r.Seed]; spec != nil && !r.Done {
			if _, err := os.Stat(filepath.Join(dir, LogName(spec))); err == nil {
				cfg.Before[r.Seed] = r.Seconds
			} else {
				delete(p.curves, r.Seed) // it starts over
			}
		}
	}
	for _, seed := range p.seeds {
		if !done[seed] {
			cfg.Specs = append(cfg.Specs, p.specs[seed])
		}
	}
	cores := runtime.GOMAXPROCS(0)
	if cfg.Jobs == 0 {
		cfg.Jobs = max(1, min(cores/max(cfg.Workers, 1), len(cfg.Specs)))
	}
	if cfg.Workers == 0 {
		cfg.Workers = max(1, cores/cfg.Jobs)
	}
	return cfg
}

// maxSeeds bounds a sweep.
const maxSeeds = 10000

// parseSeeds reads --seeds: numbers and ranges with commas, each seed once, in the order given.
func parseSeeds(text string) ([]uint64, error) {
	bad := func(what string) ([]uint64, error) {
		return nil, verb.Misused(fmt.Sprintf("--seeds %q: %s", text, what), "numbers from 0 and ranges of them, such as 0-9 or 3,5,10-19")
	}
	var seeds []uint64
	seen := map[uint64]bool{}
	for _, part := range strings.Split(text, ",") {
		first, last, ok := parseRange(strings.TrimSpace(part))
		if !ok {
			return bad(fmt.Sprintf("%q is no seed and no range", part))
		}
		if last-first >= maxSeeds || len(seeds)+int(last-first) >= maxSeeds {
			return bad(fmt.Sprintf("more than %d seeds", maxSeeds))
		}
		for i := range last - first + 1 {
			if seen[first+i] {
				return bad(fmt.Sprintf("seed %d is given twice", first+i))
			}
			seen[first+i] = true
			seeds = append(seeds, first+i)
		}
	}
	return seeds, nil
}
