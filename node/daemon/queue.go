package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// A queue is what a node trains, one run after the other: environments with commas, or the lines of a file.

const (
	// queueSuffix ends the name of a file of runs; no environment is called so.
	queueSuffix = ".txt"
	// maxQueueLength bounds such a file, in bytes, and maxQueue the runs in it.
	maxQueueLength = 1 << 20
	maxQueue       = 1000
)

const queueNotes = `--train FILE.txt reads the runs to train from a file, one in a line: an environment and its flags, as on the command line.
Empty lines are left out, and what follows a #. --draft and --until on the command line are meant for all lines that do not
say otherwise. Each run but the last has to end: it needs --draft.
    CartPole-v1 --strategy snes             # until it is solved
    BipedalWalker-v3 --until solved,steps=40000000`

// queued is a run of a queue.
type queued struct {
	options runspec.Options
	where   string // it was asked for, such as "runs.txt: line 3"; "" on the command line
}

// isQueueFile reports whether --train names a file of runs.
func isQueueFile(train string) bool { return strings.HasSuffix(train, queueSuffix) }

// queue is the runs to train, one after the other.
func (f *nodeFlags) queue(fs *verb.Flags) ([]runspec.Options, error) {
	var all []queued
	var err error
	if isQueueFile(f.train) {
		all, err = f.queueFile(fs)
	} else {
		all, err = f.queueOf(fs, strings.Split(f.train, ","))
	}
	if err == nil && fs.Given("trust") {
		err = f.trustIn(all)
	}
	if err == nil {
		err = checkQueue(all)
	}
	var options []runspec.Options
	for _, q := range all {
		options = append(options, q.options)
	}
	return options, err
}

// trustIn has the runs trust the keys of --trust alone.
func (f *nodeFlags) trustIn(all []queued) error {
	trust, err := settings.ParseTrust(f.trust)
	if err != nil {
		return err
	}
	for i := range all {
		if !all[i].options.Draft {
			return verb.Misused("--trust without --draft", "a list of trusted keys is a part of the draft of format 2: add --draft")
		}
		all[i].options.Trust = trust
	}
	return nil
}

// queueOf is the runs of some environments with the flags of the command line.
func (f *nodeFlags) queueOf(fs *verb.Flags, envs []string) ([]queued, error) {
	if !f.draft && (len(envs) > 1 || fs.Given("until")) {
		return nil, verb.Misused("a run of format 1 never ends", "add --draft for one that does, or leave out --until and name one environment")
	}
	var all []queued
	for _, env := range envs {
		options, err := runOf(&f.training, strings.TrimSpace(env), f.draft, f.until)
		if err != nil {
			return nil, err
		}
		if len(envs) > 1 && options.Until == nil {
			return nil, verb.Misused("--until never, and several environments: the second one's turn would never come", "leave out --until, or all environments but one")
		}
		all = append(all, queued{options: options})
	}
	return all, nil
}

// runOf is a run of an environment. It refuses what this build does not know before anything starts.
func runOf(training *settings.Flags, env string, draft bool, end string) (runspec.Options, error) {
	until, err := settings.ParseEnd(end)
	if err != nil {
		return runspec.Options{}, err
	}
	options, err := training.Options(env)
	if err != nil {
		return options, err
	}
	if !draft && len(options.EnvParams) > 0 {
		return options, verb.Misused("--env-param: a run of format 1 has no parameters of its environment", "add --draft")
	}
	if options.Draft = draft; draft {
		options.Until = until
	}
	if _, err = runspec.NewSpec(options); err != nil {
		return options, settings.Error(err)
	}
	return options, nil
}

// queueFile reads the runs of a file.
func (f *nodeFlags) queueFile(fs *verb.Flags) ([]queued, error) {
	for _, name := range settings.Names {
		if fs.Given(name) {
			return nil, verb.Misused("--"+name+" together with a file of runs", "write it into those lines of "+f.train+" that it is meant for")
		}
	}
	in, err := os.Open(f.train)
	if err != nil {
		return nil, verb.Wrong(err, "a file with a run in each line, such as: CartPole-v1 --draft; or name an environment, as evonode env list shows them")
	}
	defer in.Close()
	var all []queued
	size := io.LimitedReader{R: in, N: maxQueueLength + 1}
	lines := bufio.NewScanner(&size)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		where := fmt.Sprintf("%s: line %d", f.train, number)
		options, err := f.queueLine(words)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if all = append(all, queued{options, where}); len(all) > maxQueue {
			return nil, verb.Misused(fmt.Sprintf("%s: more than %d runs", where, maxQueue), "begin with the first of them")
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong), size.N == 0:
		return nil, verb.Misused(f.train+" is no file of runs: it is too long", "a file of runs is text with a run in each line")
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, verb.Misused(f.train+" names no run", "write one into each line, such as: CartPole-v1 --draft")
	}
	return all, nil
}

// queueLine reads the words of a line.
func (f *nodeFlags) queueLine(words []string) (runspec.Options, error) {
	var training settings.Flags
	fs, draft, until := verb.NewFlags(), f.draft, f.until
	training.Bind(fs)
	fs.Bool(&draft, "draft", "")
	fs.String(&until, "until", "WHEN", "")
	const see = "see evonode --help: a line is an environment and the flags of its run"
	args, err := fs.Parse(words, see)
	if err != nil {
		return runspec.Options{}, err
	}
	env, err := verb.Argument(args, "environment", "CartPole-v1 --draft")
	if err != nil {
		return runspec.Options{}, err
	}
	if !draft && fs.Given("until") {
		return runspec.Options{}, verb.Misused("a run of format 1 never ends", "add --draft, or leave out --until")
	}
	return runOf(&training, env, draft, until)
}

// checkQueue refuses a queue of which a run would never begin.
func checkQueue(all []queued) error {
	var links []seedlog.Link
	for i, q := range all {
		in := ""
		if q.where != "" {
			in = q.where + ": "
		}
		if i < len(all)-1 && q.options.Until == nil {
			return verb.Misused(in+"this run never ends, so that the next would never begin", "add --draft, and not --until never")
		}
		spec, err := runspec.NewSpec(q.options)
		if err != nil {
			return settings.Error(err)
		}
		if first := slices.Index(links, spec.Link()); first >= 0 {
			return verb.Misused(fmt.Sprintf("%sthis run is the same as number %d of the queue, and would have ended when it begins", in, first+1), "leave it out, or give it another --seed")
		}
		links = append(links, spec.Link())
	}
	return nil
}
