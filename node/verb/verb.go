package verb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// Verb is one command of the program: evonode train, say. Texts are plain lines; what begins with four spaces
// is kept as it is, the rest is wrapped.
type Verb struct {
	Name    string
	Args    string   // what follows the name in the list of verbs, such as "LOG -o FILE"
	Summary string   // one line for the list of verbs
	Usage   []string // forms of use, without the program's name
	Intro   string   // what it does: comes first in its help
	Details string   // what is to be known of arguments and output
	Notes   string   // what comes after the flags
	Example string   // a command line, and its output if that says something
	Words   []string // what the first argument may be, for completion; nil: Args says it
	// Bind defines the flags and returns what runs once they are parsed.
	Bind func(fs *Flags) Run
}

// Run does the work of a verb with the arguments that are not flags.
type Run func(ctx context.Context, s *IO, args []string) error

// Group is verbs that help lists together.
type Group struct {
	Title string
	Verbs []*Verb
}

// Program is a command with verbs.
type Program struct {
	Name   string // as it is typed
	Title  string // a sentence
	Root   *Verb  // what runs where flags come without a verb
	Groups []Group
	Notes  string // at the end of the program's help
	// Setup is called before any verb runs; nil: nothing.
	Setup func(s *IO) error
	// Values are what placeholders such as ENV may mean, for completion.
	Values map[string]func() []string
	// Hint says what to do about errors from below that carry no hint of their own, and the exit status; "",
	// 1: nothing.
	Hint func(err error) (hint string, status int)
}

// Verbs lists all verbs, in the order of help.
func (p *Program) Verbs() []*Verb {
	var all []*Verb
	for _, g := range p.Groups {
		all = append(all, g.Verbs...)
	}
	return all
}

// Main runs the program with args (without its name) and returns the exit status. ctx ends when the user asks the
// process to stop.
func (p *Program) Main(ctx context.Context, args []string, s *IO) int {
	var err error
	if p.Setup != nil {
		err = p.Setup(s)
	}
	if err == nil {
		err = p.dispatch(ctx, args, s)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	return p.report(s, err, wantsJSON(args))
}

func (p *Program) dispatch(ctx context.Context, args []string, s *IO) error {
	if len(args) == 0 {
		return Misused("nothing to do", fmt.Sprintf("see %s --help; for example: %s", p.Name, p.Root.Example))
	}
	if strings.HasPrefix(args[0], "-") {
		return p.run(ctx, p.Root, args, s)
	}
	v, err := p.find(args[0])
	if err != nil {
		return err
	}
	return p.run(ctx, v, args[1:], s)
}

// find returns the verb of that name.
func (p *Program) find(name string) (*Verb, error) {
	all := p.Verbs()
	i := slices.IndexFunc(all, func(v *Verb) bool { return v.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, v := range all {
		names = append(names, v.Name)
	}
	hint := fmt.Sprintf("see %s --help", p.Name)
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? See %s --help", strings.Join(near, ", "), p.Name)
	}
	return nil, Misused(fmt.Sprintf("unknown command %q", name), hint)
}

// run parses args and runs the verb.
func (p *Program) run(ctx context.Context, v *Verb, args []string, s *IO) error {
	fs := NewFlags()
	run := v.Bind(fs)
	rest, err := fs.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(s.Out, p.Help(v))
		return err
	}
	if err != nil {
		return p.flagError(v, fs, err)
	}
	return run(ctx, s, rest)
}

// flagError turns an error of package flag into one that says what to type.
func (p *Program) flagError(v *Verb, fs *Flags, err error) error {
	return fs.explain(err, "see "+p.path(v)+" --help")
}

// explain turns an error of package flag into one that says what to type, or what to see.
func (fs *Flags) explain(err error, see string) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return Misused(strings.Replace(err.Error(), "for flag -", "for flag --", 1), see)
	}
	name = strings.TrimPrefix(name, "-")
	var names []string
	for _, f := range fs.List() {
		names = append(names, f.Name)
	}
	near := nearest.Names(name, names)
	if len(near) == 0 {
		return Misused("unknown flag --"+name, see)
	}
	return Misused("unknown flag --"+name, "did you mean --"+strings.Join(near, ", --")+"? S"+see[1:])
}

// path is how a verb is called.
func (p *Program) path(v *Verb) string {
	return strings.TrimSpace(p.Name + " " + v.Name)
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

// Argument returns the only argument of a verb.
func Argument(args []string, what, example string) (string, error) {
	switch len(args) {
	case 1:
		return args[0], nil
	case 0:
		return "", Misused("missing argument "+what, "for example: "+example)
	}
	return "", Misused(fmt.Sprintf("unexpected argument %q", args[1]), "one "+what+" is enough, for example: "+example)
}

// None refuses arguments where a verb takes none.
func None(args []string) error {
	if len(args) > 0 {
		return Misused(fmt.Sprintf("unexpected argument %q", args[0]), "this command takes flags only")
	}
	return nil
}

// Unknown is the failure of a word that is none of words, such as lst in evonode env lst, where name is env.
func Unknown(name, word string, words []string) error {
	hint := "there are " + strings.Join(words, ", ")
	if near := nearest.Names(word, words); len(near) > 0 {
		hint = "did you mean evonode " + name + " " + near[0] + "? T" + hint[1:]
	}
	return Misused(fmt.Sprintf("unknown command \"%s %s\"", name, word), hint)
}
