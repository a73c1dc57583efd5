package cli

import (
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/node/verb"
)

// Each verb has a summary, help that begins with a sentence and has a usage, an example that calls it, and a
// section of the man page that names every flag.
func TestVerbsAreExplained(t *testing.T) {
	p := program()
	man := p.Man()
	for _, v := range append(p.Verbs(), p.Root) {
		help := p.Help(v)
		for _, part := range []string{"\nUsage:\n    evonode " + v.Name, "\nExample:\n    $ "} {
			if !strings.Contains(help, part) {
				t.Errorf("the help of %q lacks %q", v.Name, part)
			}
		}
		if first, _, _ := strings.Cut(v.Intro, "\n\n"); !strings.HasSuffix(first, ".") {
			t.Errorf("the help of %q does not begin with a sentence: %q", v.Name, first)
		}
		if !strings.Contains(v.Example, strings.TrimSpace("evonode "+v.Name)) {
			t.Errorf("the example of %q is %q", v.Name, v.Example)
		}
		if v != p.Root && (v.Summary == "" || strings.HasSuffix(v.Summary, ".")) {
			t.Errorf("the summary of %q is %q", v.Name, v.Summary)
		}
		for _, line := range strings.Split(help, "\n") {
			if len(line) > 125 {
				t.Errorf("the help of %q has a line of %d characters: %s", v.Name, len(line), line)
			}
		}
		section := man
		if v != p.Root {
			_, after, found := strings.Cut(man, "\n.SS evonode "+v.Name+"\n")
			if !found {
				t.Errorf("the man page lacks %s", v.Name)
			}
			section, _, _ = strings.Cut(after, "\n.SS ")
		}
		fs := verb.NewFlags()
		v.Bind(fs)
		for _, f := range fs.List() {
			if f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
				t.Errorf("--%s of %q is explained by %q", f.Name, v.Name, f.Doc)
			}
			name, _, _ := strings.Cut(f.String(), " ")
			if !strings.Contains(section, `\fB`+strings.ReplaceAll(name, "-", `\-`)+`\fR`) {
				t.Errorf("the man page of %q lacks %s", v.Name, name)
			}
			if !strings.Contains(help, "\n    "+f.String()) {
				t.Errorf("the help of %q lacks %s", v.Name, name)
			}
		}
	}
}

// Users read what happened, not in which package.
func TestMessagesNameNoPackage(t *testing.T) {
	var out, errs strings.Builder
	if status := Main(t.Context(), []string{"env", "show", "CartPol-v1", "--json"}, &IO{Out: &out, Err: &errs}); status != 2 ||
		!strings.HasPrefix(errs.String(), "evonode: unknown ") || !strings.HasPrefix(out.String(), `{"error":"unknown `) {
		t.Errorf("status %d, %s%s", status, errs.String(), out.String())
	}
}
