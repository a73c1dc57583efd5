package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// A queue is what a node trains, one run after the other: environments with commas, a run with its flags, or the
// lines of a file. A node works on the first runs of several queues at the same time.

const (
	// queueSuffix ends the name of a file of runs; no environment is called so.
	queueSuffix = ".txt"
	// maxQueueLength bounds such a file, in bytes, and maxQueue the runs in it.
	maxQueueLength = 1 << 20
	maxQueue       = 1000
	// maxAtOnce bounds how many runs a node works on at the same time. Each takes memory, a host and ports.
	maxAtOnce = 8
)

const queueNotes = `--train FILE.txt reads the runs to train from a file, one in a line: an environment and its flags, as on the command line.
Empty lines are left out, and what follows a #. --until on the command line is meant for all lines that do not
say otherwise. Each run but the last has to end.
    CartPole-v1 --strategy snes             # until it is solved
    BipedalWalker-v3 --until solved,steps=40000000

--train given several times has the node work on several runs at the same time, 8 at most: each --train is a queue of its own, which
moves on by itself, and takes such a line, too, in quotes. The runs share the cores by the time that each uses; the first one listens on the ports
of --listen, each other one on those that follow. The page lists them at /runs; who joins without a choice takes part in the one
with the fewest peers.
    evonode --bootstrap --train LunarLander-v3,BipedalWalker-v3 --train 'CartPole-v1 --strategy snes'`

// queued is a run of a queue.
type queued struct {
	options runspec.Options
	where   string       // it was asked for, such as "runs.txt: line 3"; "" on the command line
	link    seedlog.Link // of its spec, but for origin and nonce; see checkQueue
}

// isQueueFile reports whether --train names a file of runs, isLine whether it has a run with its flags.
func isQueueFile(train string) bool { return strings.HasSuffix(train, queueSuffix) }
func isLine(train string) bool      { return strings.Contains(train, " --") && !isQueueFile(train) }

// queues are the runs to train: the first of each at the same time.
func (f *nodeFlags) queues(fs *verb.Flags) ([][]runspec.Options, error) {
	if len(f.train) > maxAtOnce {
		return nil, verb.Misused(fmt.Sprintf("--train given %d times: a node works on %d runs at the same time at most", len(f.train), maxAtOnce),
			"name several in one --train, with commas: they are trained one after the other")
	}
	var queues [][]runspec.Options
	before := map[seedlog.Link]bool{}
	for _, train := range f.train {
		all, err := f.queue(fs, train)
		if err == nil {
			err = checkDifferent(before, all)
		}
		if err != nil {
			return nil, err
		}
		var options []runspec.Options
		for _, q := range all {
			options = append(options, q.options)
		}
		queues = append(queues, options)
	}
	return queues, nil
}

// queue is the runs of one --train, one after the other.
func (f *nodeFlags) queue(fs *verb.Flags, train string) (all []queued, err error) {
	switch {
	case isQueueFile(train):
		all, err = f.queueFile(fs, train)
	case isLine(train):
		all, err = f.queueFlags(fs, train)
	default:
		all, err = f.queueOf(fs, strings.Split(train, ","))
	}
	if err == nil && fs.Given("trust") {
		err = f.trustIn(all)
	}
	if err == nil {
		err = checkQueue(all)
	}
	return all, err
}

// checkDifferent refuses a run that is in an earlier queue, too: the node would take part in it twice.
func checkDifferent(before map[seedlog.Link]bool, all []queued) error {
	for _, q := range all {
		if before[q.link] {
			return verb.Misused(q.in()+"this run of "+q.options.Env+" is in two queues", "leave it out of one, or give it another --seed, such as --train '"+q.options.Env+" --seed 2'")
		}
	}
	for _, q := range all {
		before[q.link] = true
	}
	return nil
}

// in says where a run was asked for, before what is wrong with it.
func (q queued) in() string {
	if q.where == "" {
		return ""
	}
	return q.where + ": "
}

// trustIn has the runs trust the keys of --trust alone.
func (f *nodeFlags) trustIn(all []queued) error {
	trust, err := settings.ParseTrust(f.trust)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].options.Format == seedlog.Format1 {
			return verb.Misused("--trust: a run of format 1 has no list of trusted keys", "leave out --format 1")
		}
		all[i].options.Trust = trust
	}
	return nil
}

// queueOf is the runs of some environments with the flags of the command line.
func (f *nodeFlags) queueOf(fs *verb.Flags, envs []string) ([]queued, error) {
	if f.format == seedlog.Format1 && (len(envs) > 1 || fs.Given("until")) {
		return nil, verb.Misused("a run of format 1 never ends", "leave out --format 1 for one that does, or leave out --until and name one environment")
	}
	var all []queued
	for _, env := range envs {
		options, err := runOf(&f.training, strings.TrimSpace(env), f.format, f.until)
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
func runOf(training *settings.Flags, env string, format uint64, end string) (runspec.Options, error) {
	until, err := settings.ParseEnd(end)
	if err != nil {
		return runspec.Options{}, err
	}
	options, err := training.SwarmOptions(env)
	if err != nil {
		return options, err
	}
	if format == seedlog.Format1 && len(options.EnvParams) > 0 {
		return options, verb.Misused("--env-param: a run of format 1 has no parameters of its environment", "leave out --format 1")
	}
	if options.Format = format; format != seedlog.Format1 {
		options.Until = until
	}
	if _, err = swarmSpec(options); err != nil {
		return options, settings.Error(err)
	}
	return options, nil
}

// swarmSpec is the spec of a run that options mean, but for its origin and nonce.
func swarmSpec(options runspec.Options) (*seedlog.Spec, error) {
	options.Nonce = [16]byte{1}
	return runspec.NewSpec(options)
}

// queueFlags reads a run with its flags.
func (f *nodeFlags) queueFlags(fs *verb.Flags, line string) ([]queued, error) {
	for _, name := range settings.Names {
		if fs.Given(name) {
			return nil, verb.Misused(fmt.Sprintf("--%s together with --train '%s'", name, line), "write it between the quotes of each run that it is meant for")
		}
	}
	where := "--train '" + line + "'"
	options, err := f.queueLine(strings.Fields(line))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return []queued{{options: options, where: where}}, nil
}

// queueFile reads the runs of a file.
func (f *nodeFlags) queueFile(fs *verb.Flags, name string) ([]queued, error) {
	for _, setting := range settings.Names {
		if fs.Given(setting) {
			return nil, verb.Misused("--"+setting+" together with a file of runs", "write it into those lines of "+name+" that it is meant for")
		}
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, verb.Wrong(err, "a file with a run in each line, such as: CartPole-v1 --until solved; or name an environment, as evonode env list shows them")
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
		where := fmt.Sprintf("%s: line %d", name, number)
		options, err := f.queueLine(words)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if all = append(all, queued{options: options, where: where}); len(all) > maxQueue {
			return nil, verb.Misused(fmt.Sprintf("%s: more than %d runs", where, maxQueue), "begin with the first of them")
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong), size.N == 0:
		return nil, verb.Misused(name+" is no file of runs: it is too long", "a file of runs is text with a run in each line")
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, verb.Misused(name+" names no run", "write one into each line, such as: CartPole-v1 --until solved")
	}
	return all, nil
}

// queueLine reads the words of a line.
func (f *nodeFlags) queueLine(words []string) (runspec.Options, error) {
	var training settings.Flags
	fs, format, until := verb.NewFlags(), f.format, f.until
	training.Bind(fs)
	bindFormat(fs, &format)
	fs.String(&until, "until", "WHEN", "")
	const see = "see evonode --help: a line is an environment and the flags of its run"
	args, err := fs.Parse(words, see)
	if err != nil {
		return runspec.Options{}, err
	}
	env, err := verb.Argument(args, "environment", "CartPole-v1 --until solved")
	if err != nil {
		return runspec.Options{}, err
	}
	if format == seedlog.Format1 && fs.Given("until") {
		return runspec.Options{}, verb.Misused("a run of format 1 never ends", "leave out --format 1, or leave out --until")
	}
	return runOf(&training, env, format, until)
}

// checkQueue refuses a queue of which a run would never begin, and sets the links of its runs.
func checkQueue(all []queued) error {
	places := map[seedlog.Link]int{}
	for i := range all {
		q := &all[i]
		if i < len(all)-1 && q.options.Until == nil {
			return verb.Misused(q.in()+"this run never ends, so that the next would never begin", "name what ends it, and leave out --until never and --format 1")
		}
		spec, err := swarmSpec(q.options)
		if err != nil {
			return settings.Error(err)
		}
		q.link = spec.Link()
		if first := places[q.link]; first > 0 {
			return verb.Misused(fmt.Sprintf("%sthis run is the same as number %d of the queue, and would have ended when it begins", q.in(), first), "leave it out, or give it another --seed")
		}
		places[q.link] = i + 1
	}
	return nil
}
