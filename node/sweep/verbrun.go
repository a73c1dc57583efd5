package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/train"
	"github.com/evoswarm/evoswarm/node/verb"
)

// parseRange reads N or N-M with M >= N.
func parseRange(text string) (first, last uint64, ok bool) {
	a, b, isRange := strings.Cut(text, "-")
	first, err := strconv.ParseUint(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	if !isRange {
		return first, first, true
	}
	last, err = strconv.ParseUint(b, 10, 64)
	return first, last, err == nil && last >= first
}

// run trains what is not in the table yet, and prints the results.
func (p *sweepPlan) run(ctx context.Context, s *verb.IO) error {
	dir, clean, err := p.folder()
	if err != nil {
		return err
	}
	defer clean()
	cfg := p.config(dir)
	if p.json {
		for _, r := range p.asked() {
			if !r.Done {
				continue
			}
			if err := s.PrintJSON(r); err != nil {
				return err
			}
		}
	}
	live := &sweepLive{line: s.Line(p.json), total: len(p.seeds), done: len(p.seeds) - len(cfg.Specs), curves: p.curves}
	cfg.OnGeneration = live.generation
	cfg.OnRow = func(r Row) error {
		live.mu.Lock()
		defer live.mu.Unlock()
		live.row(r)
		return p.keep(s, r)
	}
	failure := Run(ctx, cfg)
	live.line.Clear()
	if failure != nil && ctx.Err() == nil {
		return sweepError(failure, p)
	}
	if err := p.print(s, cfg); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return p.interrupted()
	}
	return nil
}

// folder is where the logs are written: the folder of --logs, or a temporary one that clean removes.
func (p *sweepPlan) folder() (dir string, clean func(), err error) {
	if p.logs != "" {
		return p.logs, func() {}, os.MkdirAll(p.logs, 0o755)
	}
	if dir, err = os.MkdirTemp("", "evonode-sweep-"); err != nil {
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

// keep adds a row to the table, and writes the table. Calls do not overlap.
func (p *sweepPlan) keep(s *verb.IO, r Row) error {
	if !r.Done && p.logs == "" {
		return nil // nothing to resume
	}
	if i := slices.IndexFunc(p.rows, func(old Row) bool { return old.Seed == r.Seed }); i >= 0 {
		p.rows[i] = r
	} else {
		p.rows = append(p.rows, r)
		p.sort()
	}
	if p.json {
		if err := s.PrintJSON(r); err != nil {
			return err
		}
	}
	if p.out == "" {
		return nil
	}
	return errors.Join(Write(p.out, p.rows), WriteCurves(CurvesName(p.out), p.curves.Of(p.rows)))
}

// interrupted says what is done and how to continue.
func (p *sweepPlan) interrupted() error {
	done := Summarize(p.asked()).Runs
	err := fmt.Errorf("interrupted: %d of %d runs are finished", done, len(p.seeds))
	switch {
	case p.out == "":
		return verb.Failed(err, "name a table with -o FILE.csv to keep finished runs; then the same command continues the sweep")
	case p.logs == "":
		return verb.Failed(err, "the same command continues: finished runs are in "+p.out+"; with --logs DIR, unfinished runs would continue too")
	}
	return verb.Failed(err, "the same command continues: finished runs are in "+p.out+", unfinished ones in "+p.logs)
}

// sweepError explains why a sweep ended.
func sweepError(err error, p *sweepPlan) error {
	var run *RunError
	if errors.As(err, &run) && errors.Is(err, seedlog.ErrRun) {
		return train.OpenLogError(run.Log, run.Spec, run.Err)
	}
	if p.out != "" {
		err = fmt.Errorf("%w (runs that finished before are in %s)", err, p.out)
	}
	return err
}

// sweepLive shows the progress of a sweep.
type sweepLive struct {
	line        *verb.Line
	total, done int

	mu     sync.Mutex
	curves Curves
}

// generation is called from every run.
func (l *sweepLive) generation(seed uint64, p solo.Progress) {
	l.mu.Lock()
	if p.Return != nil {
		l.curves.Add(seed, Point{Steps: p.Steps, Return: *p.Return})
	}
	done := l.done
	l.mu.Unlock()
	l.line.Show(time.Now(), verb.Items(fmt.Sprintf("%d of %d runs", done, l.total), fmt.Sprintf("seed %d: return %s", seed, verb.Number(p.Return)),
		fmt.Sprintf("generation %d", p.Gen), fmt.Sprintf("%d env-steps", p.Steps))...)
}

// row counts a run that ended. The caller holds the lock.
func (l *sweepLive) row(r Row) {
	if r.Done {
		l.done++
	}
}

// print prints the table, and draws and compares if the user asked for that.
func (p *sweepPlan) print(s *verb.IO, cfg Config) error {
	rows := p.asked()
	sum := Summarize(rows)
	spec := p.specs[p.seeds[0]]
	sum.Env, sum.Strategy, sum.Until = spec.Env.ID, spec.Strategy.Name, settings.UntilText(p.until)
	sum.Left, sum.Jobs, sum.Workers = len(p.seeds)-sum.Runs, cfg.Jobs, cfg.Workers
	if p.json {
		if err := s.PrintJSON(sum); err != nil {
			return err
		}
	} else if err := printSweep(s, rows, sum); err != nil {
		return err
	}
	if p.plot != "" && sum.Runs > 0 {
		if err := p.draw(rows); err != nil {
			return err
		}
	}
	if p.compare == "" || sum.Runs == 0 {
		return nil
	}
	return printComparison(s, p.compare, "this sweep", p.other.Rows, rows, p.json)
}

// draw writes the plot.
func (p *sweepPlan) draw(rows []Row) error {
	env, err := catalog.Env(p.options.Env)
	if err != nil {
		return err
	}
	drawn := Plot{Title: env.ID, Threshold: &env.SolvedReturn, Groups: []Group{{"this sweep", rows, p.curves.Of(rows)}}}
	if p.compare != "" {
		drawn.Groups = append(drawn.Groups, p.other)
	}
	return drawn.Write(p.plot)
}

// printSweep prints the table as text.
func printSweep(s *verb.IO, rows []Row, sum Summary) error {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "seed\tsolved\tgenerations\tevaluations\tenv-steps\tseconds\treturn\t")
	for _, r := range rows {
		verdict := verb.YesNo(r.Solved)
		if !r.Done {
			verdict = "unfinished"
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%.2f\t%s\t\n", r.Seed, verdict, r.Gens, r.Evaluations, r.Steps, r.Seconds, verb.Number(r.Return))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%s, %s, until %s; %d at a time with %s each\n%s", sum.Env, sum.Strategy, sum.Until, sum.Jobs, verb.Plural(sum.Workers, "core"), summaryText(sum))
	return err
}

// summaryText is a summary in three lines.
func summaryText(sum Summary) string {
	if sum.Runs == 0 {
		return "no run finished\n"
	}
	steps, seconds := sum.Quarters.Steps, sum.Quarters.Seconds
	return fmt.Sprintf("solved     %d of %d\nenv-steps  median %s, quartiles %s and %s\nseconds    median %s, quartiles %s and %s\n",
		sum.Solved, sum.Runs, costText(steps[1], 0), costText(steps[0], 0), costText(steps[2], 0), costText(seconds[1], 3), costText(seconds[0], 3), costText(seconds[2], 3))
}

// costText prints the cost of solving an environment, which may be infinite.
func costText(x Real, digits int) string {
	if x-x != 0 {
		return "never"
	}
	return strconv.FormatFloat(float64(x), 'f', digits, 64)
}
