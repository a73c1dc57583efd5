package verb

import (
	"context"
	"fmt"
	"strings"
)

// Own returns the verbs that every program has: help, completion and man.
func (p *Program) Own() []*Verb {
	return []*Verb{p.helpVerb(), p.completionVerb(), p.manVerb()}
}

func (p *Program) helpVerb() *Verb {
	return &Verb{
		Name: "help", Args: "[COMMAND]", Summary: "the same as COMMAND --help",
		Intro:   "Prints the help of a command, or the list of commands.",
		Usage:   []string{"help [COMMAND]"},
		Example: p.Name + " help train",
		Bind: func(fs *Flags) Run {
			return func(_ context.Context, s *IO, args []string) error {
				v := p.Root
				if len(args) > 0 {
					var err error
					if v, err = p.find(args[0]); err != nil {
						return err
					}
				}
				_, err := fmt.Fprint(s.Out, p.Help(v))
				return err
			}
		},
	}
}

func (p *Program) manVerb() *Verb {
	return &Verb{
		Name: "man", Summary: "print the man page",
		Intro:   "Prints the man page, in the macros of man(7).",
		Usage:   []string{"man"},
		Example: fmt.Sprintf("%s man > /usr/local/share/man/man1/%s.1", p.Name, p.Name),
		Bind: func(fs *Flags) Run {
			return func(_ context.Context, s *IO, args []string) error {
				if err := None(args); err != nil {
					return err
				}
				_, err := fmt.Fprint(s.Out, p.Man())
				return err
			}
		},
	}
}

func (p *Program) completionVerb() *Verb {
	shells := []string{"bash", "fish", "zsh"}
	return &Verb{
		Name: "completion", Args: strings.Join(shells, "|"), Summary: "print a script that makes Tab complete commands, flags and names",
		Intro:   "Prints a script for a shell. It makes Tab complete commands, flags, and the names of environments and strategies.",
		Usage:   []string{"completion " + strings.Join(shells, "|")},
		Details: strings.ReplaceAll(completionDetails, "evonode", p.Name),
		Example: fmt.Sprintf("source <(%s completion bash)", p.Name),
		Words:   shells,
		Bind: func(fs *Flags) Run {
			return func(_ context.Context, s *IO, args []string) error {
				if len(args) > 0 && args[0] == completeWords {
					p.printCandidates(s, args[1:])
					return nil
				}
				shell, err := Argument(args, "SHELL", p.Name+" completion bash")
				if err != nil {
					return err
				}
				script, ok := completionScripts[shell]
				if !ok {
					return Misused(fmt.Sprintf("no completion for %q", shell), "there is one for "+strings.Join(shells, ", "))
				}
				_, err = fmt.Fprint(s.Out, strings.ReplaceAll(script, "evonode", p.Name))
				return err
			}
		},
	}
}
