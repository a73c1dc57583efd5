package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// IO is what a command reads from and writes to.
type IO struct {
	In       io.Reader
	Out      io.Writer // results
	Err      io.Writer // everything else
	Terminal bool      // whether Err is a terminal, so that progress is shown
	Start    time.Time // of the process: what "seconds" is counted from
}

// Standard returns the process's own streams.
func Standard() *IO {
	return &IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: isTerminal(os.Stderr), Start: processStart}
}

// processStart is as early as Go code of the process can tell the time.
var processStart = time.Now()

// isTerminal reports whether f is a character device that is not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// command is one verb of the command line.
type command struct {
	name    string
	summary string // one line for the list of commands
	help    string // the whole of --help
	// bind defines the flags and returns what runs once they are parsed.
	bind func(fs *flag.FlagSet) runner
}

// runner does the work of a command with the arguments that are not flags.
type runner func(ctx context.Context, s *IO, args []string) error

// commands lists every verb in the order of the help text.
func commands() []*command {
	return []*command{
		joinCommand(), trainCommand(), sweepCommand(), replayCommand(), evalCommand(), exportCommand(), plotCommand(), watchCommand(), filmCommand(), logCommand(), envCommand(), strategyCommand(),
		statusCommand(), pauseCommand(), resumeCommand(), stopCommand(), benchCommand(), versionCommand(),
	}
}

// Main runs evonode with args (without the program's name) and returns the exit status. ctx ends when the user asks
// the process to stop.
func Main(ctx context.Context, args []string, s *IO) int {
	err := useKernel(s)
	if err == nil {
		err = dispatch(ctx, args, s)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	return report(s, err, wantsJSON(args))
}

func dispatch(ctx context.Context, args []string, s *IO) error {
	if len(args) == 0 {
		return usage("nothing to do", "see evonode --help; evonode train CartPole-v1 is a good start")
	}
	if strings.HasPrefix(args[0], "-") {
		return rootCommand().run(ctx, args, s)
	}
	if args[0] == "help" {
		return helpOf(s, args[1:])
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	return c.run(ctx, args[1:], s)
}

// find returns the command of that name.
func find(name string) (*command, error) {
	all := commands()
	i := slices.IndexFunc(all, func(c *command) bool { return c.name == name })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	hint := "see evonode --help"
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? See evonode --help"
	}
	return nil, usage(fmt.Sprintf("unknown command %q", name), hint)
}

// helpOf serves `evonode help [COMMAND]`.
func helpOf(s *IO, args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprint(s.Out, rootCommand().help)
		return err
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(s.Out, c.help)
	return err
}

// run parses args and runs the command.
func (c *command) run(ctx context.Context, args []string, s *IO) error {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	run := c.bind(fs)
	rest, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(s.Out, c.help)
		return err
	}
	if err != nil {
		return c.flagError(fs, err)
	}
	return run(ctx, s, rest)
}

// parse lets flags stand before, between and after arguments. What follows "--" is never a flag.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		before := len(args)
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		left := fs.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if n := before - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest = append(rest, left[0])
		args = left[1:]
	}
}

// flagError turns an error of package flag into one that says what to type.
func (c *command) flagError(fs *flag.FlagSet, err error) error {
	see := "see evonode " + c.name + " --help"
	if c.name == "" {
		see = "see evonode --help"
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return usage(err.Error(), see)
	}
	name = strings.TrimPrefix(name, "-")
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	near := nearest.Names(name, names)
	if len(near) == 0 {
		return usage(fmt.Sprintf("unknown flag --%s", name), see)
	}
	return usage(fmt.Sprintf("unknown flag --%s", name), "did you mean --"+strings.Join(near, ", --")+"? S"+see[1:])
}

// argument returns the only argument of a command.
func argument(args []string, what, example string) (string, error) {
	switch len(args) {
	case 1:
		return args[0], nil
	case 0:
		return "", usage("missing argument "+what, "for example: "+example)
	}
	return "", usage(fmt.Sprintf("unexpected argument %q", args[1]), "one "+what+" is enough, for example: "+example)
}

// none refuses arguments where a command takes none.
func none(args []string) error {
	if len(args) > 0 {
		return usage(fmt.Sprintf("unexpected argument %q", args[0]), "this command takes flags only")
	}
	return nil
}

// wantsJSON reports whether the user asked for JSON, even where the flags could not be parsed.
func wantsJSON(args []string) bool {
	for _, a := range args {
		switch a {
		case "--json", "-json", "--json=true", "-json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// open returns the named file, or standard input for "-". The caller closes it.
func (s *IO) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(bufio.NewReader(s.In)), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a folder", name)
	}
	return f, nil
}

// called is what messages call the named file.
func called(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
