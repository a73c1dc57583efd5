package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// AtNotes is what the help of verbs with --at says about it.
const AtNotes = `--at best is the entry whose mean policy did best: of the entries that training evaluates on held-out episodes (every
k-th, k in the run's spec), the one with the highest mean return of its validation episodes; of equal ones the last.
--at solved is the first of those entries that is solved: its validation episodes reached the environment's goal, and
so did the mean over its test episodes. Without --at it is the last entry; where a swarm's run ended solved, the one whose
policy passed the test, which its log names; else where its log has held-out results, the best one by these, which --at best
takes then, too.`

// Source is how the model of a log is chosen and rebuilt.
type Source struct {
	At      string // an entry: a height, best or solved; "": the last one
	Workers int    // cores; 0: all
	Check   seedlog.Check
	Quiet   bool // no progress, as with --json
	Whole   bool // without At the last entry, even if the log names an earlier one as solved or best
}

// Bind defines --at and --workers.
func (f *Source) Bind(fs *verb.Flags) {
	fs.String(&f.At, "at", "HEIGHT|best|solved", "the model after that entry (default: the one that ended the run solved, else the best one that the log names, else the last); 0 is the untrained model")
	fs.Workers(&f.Workers, "cores to use")
}

// place says which entry of a log is meant: --at.
type place struct {
	rule   string // "", "best" or "solved"
	height uint64 // if has
	has    bool
}

// parsePlace reads --at; empty: the last entry.
func parsePlace(text string) (place, error) {
	switch text {
	case "":
		return place{}, nil
	case "best", "solved":
		return place{rule: text}, nil
	}
	h, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return place{}, verb.Misused(fmt.Sprintf("--at %q is not a height", text), "a number from 0, best, or solved; evonode log LOG lists the entries")
	}
	return place{height: h, has: true}, nil
}

// Misused refuses an --at that is none.
func (f *Source) Misused() error {
	_, err := parsePlace(f.At)
	return err
}

// options turns the flags into those of a replay.
func (f *Source) options() (seedlog.ReplayOptions, place, error) {
	at, err := parsePlace(f.At)
	return seedlog.ReplayOptions{Check: f.Check, Workers: f.Workers}, at, err
}

// errSolved ends a replay at the entry that was searched for.
var errSolved = errors.New("solved")

// Found is the entry that best or solved means, searched for while a log is folded.
type Found struct {
	Rule   string
	Seen   int     // entries that were evaluated
	Return float64 // mean, of the validation episodes of the entry found

	workers int
	pool    *rollout.Pool
	marked  marked
	entry   *seedlog.Replayed
}

// visit evaluates an entry as training does.
func (f *Found) visit(_ *seedlog.Record, at seedlog.Replayed) error {
	rules := at.Rules
	if f.Rule == "best" && rules.Spec.Best != nil {
		if f.marked.follow(at) {
			f.Seen++
		}
		if f.entry = f.marked.best; f.entry != nil {
			f.Return = rollout.FromFitness(at.Marks.Best.Score)
		}
		return nil
	}
	if at.Height%rules.Spec.Checks.Every != 0 {
		return nil
	}
	if f.pool == nil {
		f.pool = rollout.NewPool(rules.Plan, f.workers)
	}
	f.Seen++
	mean := f.returns(&at, rules.ValidateSeeds(at.Link))
	switch {
	case f.Rule == "best" && (f.entry == nil || mean >= f.Return):
		f.entry, f.Return = &at, mean
	case f.Rule == "solved" && mean >= rules.Env.SolvedReturn && f.returns(&at, rules.TestSeeds(at.Link, rules.Spec.Checks.Test)) >= rules.Env.SolvedReturn:
		f.entry, f.Return = &at, mean
		return errSolved
	}
	return nil
}

// returns is the mean return of the mean policy in the given episodes.
func (f *Found) returns(at *seedlog.Replayed, seeds []uint64) float64 {
	each := make([]float64, len(seeds))
	f.pool.Returns(at.State, seeds, each)
	mean, _, _, _ := summarize(each)
	return mean
}

// Log replays the named log up to the entry that f chooses. The second result is nil unless it was searched for.
func (f *Source) Log(ctx context.Context, s *verb.IO, name string) (*seedlog.Replayed, *Found, error) {
	in, err := s.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	return f.log(ctx, s, name, in)
}

// log is Log of the file of that name, which is read from in.
func (f *Source) log(ctx context.Context, s *verb.IO, name string, in io.Reader) (*seedlog.Replayed, *Found, error) {
	opts, at, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	if at.rule == "" {
		opts.At, opts.HasAt = at.height, at.has
		var newest recent
		var marks marked
		if !at.has && !f.Whole {
			opts.Visit = func(g *seedlog.Record, at seedlog.Replayed) error {
				marks.follow(at)
				return newest.visit(g, at)
			}
		}
		r, err := From(ctx, s, name, in, opts, f.Quiet)
		if chosen := newest.ended(r); chosen != r || marks.best == nil {
			return chosen, nil, err
		}
		if !f.Quiet {
			s.Note("%s: %s; --at HEIGHT takes another", verb.Called(name), bestText(r.Marks.Best))
		}
		marks.best.Checked, marks.best.Truncated, marks.best.Tail = r.Checked, r.Truncated, r.Tail
		return marks.best, nil, err
	}
	found := &Found{Rule: at.rule, workers: f.Workers}
	opts.Visit = found.visit
	r, err := From(ctx, s, name, in, opts, f.Quiet)
	if err != nil && !errors.Is(err, errSolved) {
		return nil, nil, err
	}
	if found.entry == nil {
		return nil, nil, found.missing(verb.Called(name), r)
	}
	if r != nil { // the whole log was read
		found.entry.Checked, found.entry.Truncated, found.entry.Tail = r.Checked, r.Truncated, r.Tail
	}
	return found.entry, found, nil
}

// marked follows which entry a log names as the best one.
type marked struct {
	open *seedlog.Replayed // the newest entry whose state gets a score
	best *seedlog.Replayed
}

// follow takes the next entry, and reports whether it is one whose state gets a score.
func (m *marked) follow(at seedlog.Replayed) bool {
	if m.open != nil && at.Marks.Best.Height == m.open.Height {
		m.best = m.open
	}
	if !at.Rules.Evaluated(at.Height) {
		return false
	}
	m.open = &at
	return true
}

// bestText says in words which state a log names as the best one.
func bestText(best seedlog.Best) string {
	return fmt.Sprintf("the policy of generation %d is the best one, with a mean return of %.3f in %s", best.Height, rollout.FromFitness(best.Score), verb.Plural(int(best.Results), "held-out episode"))
}

// recent are the newest entries of a run that may end solved.
type recent []seedlog.Replayed

func (list *recent) visit(_ *seedlog.Record, at seedlog.Replayed) error {
	if u := at.Rules.Spec.Until; u == nil || !u.Solved {
		return nil
	}
	if *list = append(*list, at); len(*list) > seedlog.MaxSolvedAge+2 { // the last entry, its parent, and those below
		*list = (*list)[1:]
	}
	return nil
}

// ended is the entry that ended the run solved, if one did; else r, where the log ends.
func (list recent) ended(r *seedlog.Replayed) *seedlog.Replayed {
	for _, at := range list {
		if r != nil && r.Solved > 0 && at.Height == r.Solved {
			at.Checked, at.Truncated, at.Tail = r.Checked, r.Truncated, r.Tail
			return &at
		}
	}
	return r
}

// missing says why no entry was found in a log that was read to its end.
func (f *Found) missing(name string, r *seedlog.Replayed) error {
	if f.Seen == 0 {
		return verb.Failed(fmt.Errorf("%s: no entry to choose from: the run is evaluated on held-out episodes every %d entries, and the log ends at height %d", name, r.Rules.Spec.Checks.Every, r.Height),
			"leave out --at for the last entry")
	}
	return verb.Failed(fmt.Errorf("%s: none of the %d entries that were evaluated is solved", name, f.Seen), "--at best takes the best of them; evonode train continues the run")
}

// From replays the log of that name, which is read from in, until ctx ends. Unless it is quiet it shows its progress.
func From(ctx context.Context, s *verb.IO, name string, in io.Reader, opts seedlog.ReplayOptions, quiet bool) (*seedlog.Replayed, error) {
	synced, err := syncedLength(name)
	if err != nil {
		return nil, err
	}
	opts.Synced = synced
	line := s.Line(quiet)
	defer line.Clear()
	opts.Progress = func(height uint64, _ int64) error {
		line.Show(time.Now(), verb.Item{Text: fmt.Sprintf("replayed to height %d", height)})
		return ctx.Err()
	}
	r, err := seedlog.Replay(in, opts)
	if err != nil {
		return nil, Error(verb.Called(name), err)
	}
	return r, nil
}

// NoteTruncated tells the user of a log that ends within a generation.
func NoteTruncated(s *verb.IO, name string, r *seedlog.Replayed) {
	if r.Truncated {
		s.Note("%s is truncated (%v); everything before that was replayed", verb.Called(name), r.Tail)
	}
}
