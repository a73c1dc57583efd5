package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
	"github.com/evoswarm/evoswarm/node/verb"
)

func init() { envs.Register(envtest.Bare()) }

// An environment without a title, a documentation and a state is listed and shown; trace says what it lacks.
func TestBareEnv(t *testing.T) {
	program := &verb.Program{Name: "evonode", Groups: []verb.Group{{Verbs: []*verb.Verb{EnvVerb()}}}}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"env list", 0, "Bare-v0"},
		{"env show bare-v0", 0, "Bare-v0"},
		{"env trace Bare-v0 --seed 1 --actions -", 1, "the state of Bare-v0 cannot be read or set, it has no State and SetState\nhint: implement envs.Stateful"},
	} {
		var out, errs bytes.Buffer
		status := program.Main(t.Context(), strings.Fields(c.args), &verb.IO{In: strings.NewReader("0\n"), Out: &out, Err: &errs})
		if got := out.String() + errs.String(); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: status %d, %q; want %d, %q", c.args, status, got, c.status, c.want)
		}
	}
}
