package verb

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Flag is a row of a verb's flags.
type Flag struct {
	Name string // without dashes
	Arg  string // placeholder of its value, such as FILE or lan|wan; "" for a switch
	Doc  string // what it does, in lower case, without a full stop
}

// Flags are the flags of a verb, in the order in which its help lists them.
type Flags struct {
	set  *flag.FlagSet
	list []Flag
}

// NewFlags returns flags without rows.
func NewFlags() *Flags {
	fs := &Flags{set: flag.NewFlagSet("", flag.ContinueOnError)}
	fs.set.SetOutput(io.Discard)
	return fs
}

// List returns the rows.
func (fs *Flags) List() []Flag { return fs.list }

// String defines a flag that takes any text. As with all that follow, *to is the default.
func (fs *Flags) String(to *string, name, arg, doc string) {
	fs.Func(name, arg, doc, func(text string) error { *to = text; return nil })
}

// Choice defines a flag that takes one of the words of its placeholder, such as lan|wan.
func (fs *Flags) Choice(to *string, name, choices, doc string) {
	fs.Func(name, choices, doc, func(text string) error {
		words := strings.Split(choices, "|")
		if !slices.Contains(words, text) {
			last := len(words) - 1
			return fmt.Errorf("want %s or %s", strings.Join(words[:last], ", "), words[last])
		}
		*to = text
		return nil
	})
}

// Uint defines a flag that takes a whole number from least.
func (fs *Flags) Uint(to *uint64, name, arg, doc string, least uint64) {
	fs.Func(name, arg, doc, func(text string) error {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil || n < least {
			return fmt.Errorf("want a whole number from %d", least)
		}
		*to = n
		return nil
	})
}

// Int defines a flag that takes a whole number from least.
func (fs *Flags) Int(to *int, name, arg, doc string, least int) {
	fs.Func(name, arg, doc, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("want a whole number from %d", least)
		}
		*to = n
		return nil
	})
}

// Float defines a flag that takes a number.
func (fs *Flags) Float(to *float64, name, arg, doc string) {
	fs.Func(name, arg, doc, func(text string) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("want a number")
		}
		*to = x
		return nil
	})
}

// Workers defines --workers, which means the same in every verb: 0, the default, is all cores.
func (fs *Flags) Workers(to *int, what string) {
	fs.Func("workers", "N", what+" (default 0: all)", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return errors.New("want a number of cores from 1, or 0 for all")
		}
		*to = n
		return nil
	})
}

// Bool defines a switch.
func (fs *Flags) Bool(to *bool, name, doc string) {
	fs.list = append(fs.list, Flag{name, "", doc})
	fs.set.BoolVar(to, name, *to, doc)
}

// JSON defines --json.
func (fs *Flags) JSON(to *bool, doc string) { fs.Bool(to, "json", doc) }

// Func defines a flag whose value set takes.
func (fs *Flags) Func(name, arg, doc string, set func(text string) error) {
	fs.list = append(fs.list, Flag{name, arg, doc})
	fs.set.Func(name, doc, set)
}

// BoolFunc defines a switch whose value, true where none is given, set takes. arg is how help shows it, such
// as "=false".
func (fs *Flags) BoolFunc(name, arg, doc string, set func(text string) error) {
	fs.list = append(fs.list, Flag{name, arg, doc})
	fs.set.BoolFunc(name, doc, set)
}

// Alias defines another name for a flag, which help does not list.
func (fs *Flags) Alias(alias, name string) {
	f := fs.set.Lookup(name)
	fs.set.Var(f.Value, alias, f.Usage)
}

// Given reports whether the user gave the flag, by this name.
func (fs *Flags) Given(name string) (given bool) {
	fs.set.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// AllGiven lists the flags that the user gave.
func (fs *Flags) AllGiven() (names []string) {
	fs.set.Visit(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// Has reports whether there is a flag of that name.
func (fs *Flags) Has(name string) bool { return fs.set.Lookup(name) != nil }

// Set gives a flag the value of text, as if the user had.
func (fs *Flags) Set(name, text string) error { return fs.set.Set(name, text) }

// Parse reads the words of a line of a file as those of a command line. It returns the words that are no flags. Errors
// say what to type, or what to see.
func (fs *Flags) Parse(words []string, see string) (rest []string, err error) {
	if rest, err = fs.parse(words); err != nil {
		return nil, fs.explain(err, see)
	}
	return rest, nil
}

// parse lets flags come before, between and after arguments. What follows "--" is never a flag.
func (fs *Flags) parse(args []string) (rest []string, err error) {
	for {
		before := len(args)
		if err := fs.set.Parse(args); err != nil {
			return nil, err
		}
		left := fs.set.Args()
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

// Hide takes a flag out of help: it is there to say what to use instead.
func (fs *Flags) Hide(name string) {
	fs.list = slices.DeleteFunc(fs.list, func(f Flag) bool { return f.Name == name })
}
