package cli

import (
	"flag"
	"strings"
	"testing"
)

// TestHelp checks that each command's help begins with a sentence, has a usage and an example, and names every flag.
func TestHelp(t *testing.T) {
	for _, c := range append(commands(), rootCommand()) {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.bind(fs)
		for _, part := range []string{"\nUsage:\n", "\nExample:\n    $ ", "evonode " + c.name} {
			if !strings.Contains(c.help, part) {
				t.Errorf("the help of %q lacks %q", c.name, part)
			}
		}
		fs.VisitAll(func(f *flag.Flag) {
			if f.Name != "version" && !strings.Contains(c.help, " "+dashes(f.Name)) {
				t.Errorf("the help of %q lacks --%s", c.name, f.Name)
			}
		})
		for _, line := range strings.Split(c.help, "\n") {
			if len(line) > 125 {
				t.Errorf("the help of %q has a line of %d characters: %s", c.name, len(line), line)
			}
		}
		if !strings.HasSuffix(c.help, "\n") {
			t.Errorf("the help of %q does not end its last line", c.name)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  string
		n     int
		json  bool
		rest  string
		fails bool
	}{
		{"a -n 3 b --json c", 3, true, "a b c", false},
		{"-n=3 -- --json", 3, false, "--json", false},
		{"a -- b -n 3", 0, false, "a b -n 3", false},
		{"-", 0, false, "-", false},
		{"", 0, false, "", false},
		{"a --m", 0, false, "", true},
		{"-n x", 0, false, "", true},
	} {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.SetOutput(new(strings.Builder))
		n, asJSON := fs.Int("n", 0, ""), fs.Bool("json", false, "")
		rest, err := parse(fs, strings.Fields(c.args))
		if (err != nil) != c.fails {
			t.Errorf("parse(%q) fails with %v, want failure: %t", c.args, err, c.fails)
		}
		if got := strings.Join(rest, " "); err == nil && (got != c.rest || *n != c.n || *asJSON != c.json) {
			t.Errorf("parse(%q) = %q, n %d, json %t, want %q, %d, %t", c.args, got, *n, *asJSON, c.rest, c.n, c.json)
		}
	}
}

// dashes writes a flag as people do.
func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
