package live

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestBorder measures the cost of sending tasks and results through postMessage: the page's own worker gets tasks of
// several sizes, one after the other or two at a time. What a task takes in addition to its candidates is that cost.
func TestBorder(t *testing.T) {
	candidates := []int{1, 16, 64}
	setup, state, tasks := borderTasks(t, candidates)
	server := httptest.NewServer(benchPage(t, map[string]any{"setup": setup, "state": state, "tasks": tasks}))
	t.Cleanup(server.Close)
	var s swarm
	b := s.newTab(t, server.URL+"/bench")
	b.open(t)
	s.await(t, "the page has measured", func() string {
		done, err := ask[bool](b, "globalThis.measured !== undefined")
		if err != nil || !done {
			return b.describe()
		}
		return ""
	})
	text, err := ask[string](b, "JSON.stringify(globalThis.measured)")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Error              string
		Alone, Overlapping []float64 // time of a task of each size [ms]: each after the reply to the one before; two at the worker
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Error != "" {
		t.Fatalf("%v in %s", err, text)
	}
	for _, way := range []struct {
		name string
		ms   []float64
	}{{"one after the other", m.Alone}, {"two at a time", m.Overlapping}} {
		last := len(candidates) - 1
		each := (way.ms[last] - way.ms[0]) / float64(candidates[last]-candidates[0])
		border := way.ms[0] - each*float64(candidates[0])
		t.Logf("%s: a candidate takes %.4f ms, the border %.3f ms; under 1 %% of tasks of %.1f ms (%v)",
			way.name, each, border, 100*border, way.ms)
	}
}

// borderTasks returns, in base64, a setup, a state, and tasks of equal candidates whose episodes end at once.
func borderTasks(t *testing.T, candidates []int) (setup, state string, tasks []string) {
	t.Helper()
	method, err := evolve.Find("dises") // not antithetic
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := rollout.Setup{EnvID: "CartPole-v1", Strategy: method.Name, Params: params, Population: 64,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Bias: true, Head: "argmax"}}
	plan, err := rollout.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	start := plan.Initial(1)
	clear(start.Theta)
	data, err := rollout.MarshalSetup(s)
	if err == nil {
		setup = base64.StdEncoding.EncodeToString(data)
		data, err = start.MarshalBinary()
	}
	if err != nil {
		t.Fatal(err)
	}
	state = base64.StdEncoding.EncodeToString(data)
	for _, n := range candidates {
		seeds := make([]uint64, n)
		for i := range seeds {
			seeds[i] = 1
		}
		data, err := rollout.MarshalTask(rollout.Task{State: start, Seeds: seeds, Episodes: [][]uint64{{1}}})
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, base64.StdEncoding.EncodeToString(data))
	}
	return setup, state, tasks
}

// benchPage serves the built page's files, and a page /bench that runs testdata/border.js with inputs.
func benchPage(t *testing.T, inputs map[string]any) http.Handler {
	t.Helper()
	dist := filepath.Join(root, "web", "dist")
	for name, pattern := range map[string]string{"worker": "worker-*.js", "compute": "compute-*.wasm", "worlds": "worlds-*.wasm"} {
		found, err := filepath.Glob(filepath.Join(dist, "assets", pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v: make page", found)
		}
		inputs[name] = "assets/" + filepath.Base(found[0])
	}
	script, err := os.ReadFile(filepath.Join("testdata", "border.js"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	page := fmt.Sprintf("<!doctype html><title>bench</title><script>const inputs = %s;\n%s</script>", data, strings.TrimSpace(string(script)))
	files := http.FileServer(http.Dir(dist))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin") // for a finer clock
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		if r.URL.Path == "/bench" {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte(page))
			return
		}
		files.ServeHTTP(w, r)
	})
}
