package catalog

import (
	"bytes"
	"os"
	"path/filepath"
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

// A state of a world of MuJoCo is its state vector, or its motion alone.
func TestTraceMotion(t *testing.T) {
	program := &verb.Program{Name: "evonode", Groups: []verb.Group{{Verbs: []*verb.Verb{EnvVerb()}}}}
	for _, c := range []struct {
		env, state string
		status     int
		want       string
	}{
		{"InvertedPendulum-v5", `{"qpos":[0.5,0.1],"qvel":[0,-1],"warmstart":[0,0]}`, 0, `{"obs":[0.5,0.10000000149011612,0,-1]}`},
		{"InvertedPendulum-v5", `{"qpos":[0.5,0.1],"qvel":[0,-1]}`, 0, `{"obs":[0.5,0.10000000149011612,0,-1]}`},
		{"InvertedPendulum-v5", `{"state":[0.5,0.1,0,-1,0,0]}`, 0, `{"obs":[0.5,0.10000000149011612,0,-1]}`},
		{"InvertedPendulum-v5", `{"qpos":[0.5],"qvel":[0,-1]}`, 1, "bad state: InvertedPendulum-v5 has 2 values of qpos, 2 of qvel and 2 or none of warmstart, got 1, 2 and 0"},
		{"InvertedPendulum-v5", `{"qpos":[0.5,1e9],"qvel":[0,-1]}`, 1, "bad state: qpos hinge (value 1) is 1e+09, not in [-10000, 10000]"},
		{"InvertedPendulum-v5", `{"state":[0.5,0.1,0,-1,0,0],"qpos":[0.5,0.1]}`, 1, "without state"},
		{"CartPole-v1", `{"qpos":[0.5]}`, 1, "for worlds of MuJoCo"},
		{"Ant-v5", `{"qpos":[0,0,0.7,0,0,0,0,0,1,0,-1,0,-1,0,1],"qvel":[0,0,0,0,0,0,0,0,0,0,0,0,0,0]}`, 1, "the quaternion of the free joint (values 3 to 6) has a norm of 0, not in [0.1, 4]"},
	} {
		file := filepath.Join(t.TempDir(), "state.json")
		if err := os.WriteFile(file, []byte(c.state), 0o600); err != nil {
			t.Fatal(err)
		}
		act := "0"
		if c.env == "Ant-v5" {
			act = "[0,0,0,0,0,0,0,0]"
		}
		var out, errs bytes.Buffer
		args := []string{"env", "trace", c.env, "--state", file, "--actions", "-"}
		status := program.Main(t.Context(), args, &verb.IO{In: strings.NewReader(act + "\n"), Out: &out, Err: &errs})
		if got := out.String() + errs.String(); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: status %d, %q; want %d, %q", c.env, c.state, status, got, c.status, c.want)
		}
	}
}
