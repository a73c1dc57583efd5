package replay

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// markedLog writes the log of a swarm of one whose states have held-out results, and returns its name and what it says.
func markedLog(t *testing.T, entries uint64) (path string, marks seedlog.Marks) {
	key := seedlog.SoloKey(&seedlog.Spec{})
	spec, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1", Strategy: "snes", Seed: 3, Nonce: [16]byte{1}, Origin: seedlog.PeerOf(key)})
	if err != nil {
		t.Fatal(err)
	}
	spec.Generation.MaxStale, spec.Best = 2, &seedlog.BestState{Every: 3, Results: 8}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	pool := rollout.NewPool(rules.Plan, 0)
	parent, state, window := seedlog.Parent{Link: rules.Run}, rules.Initial(), rules.NewWindow()
	data := rules.AppendBeginning(nil)
	for parent.Height < entries {
		claims, err := rules.Measure(pool, state, parent.Link, key, spec.Generation.Evaluations, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rules.Evaluated(parent.Height) {
			results, err := pool.Evaluate(rules.Range(state, parent.Link, seedlog.PeerOf(key), seedlog.FirstHeldOut, 8), nil)
			if err != nil {
				t.Fatal(err)
			}
			claims = append(claims, rules.Claim(parent.Link, key, seedlog.FirstHeldOut, results))
		}
		parent.Below = window
		entry, next := rules.NewEntry(state, parent, 1, seedlog.PeerOf(key), claims)
		data = seedlog.AppendGeneration(data, entry, seedlog.NewSeal(entry, key, nil), claims)
		_, link := entry.Encode()
		parent, state = rules.After(parent, link, entry, claims), next
		window.Add(link, entry.Height, claims)
	}
	path = filepath.Join(t.TempDir(), "marked.seedlog")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, parent.Marks
}

// TestBestStateByDefault: of a log that marks its best state, that one is taken without --at and with --at best, and it
// is said; a height is a height, and replay without --at goes to the end, and names the best state.
func TestBestStateByDefault(t *testing.T) {
	path, marks := markedLog(t, 17)
	best := marks.Best
	if best.Height == 0 || best.Height > 12 || best.Results != 8 {
		t.Fatalf("the log marks %+v", best)
	}
	for _, test := range []struct {
		source Source
		height uint64
		says   string
	}{
		{Source{}, best.Height, "is the best one"},
		{Source{Quiet: true}, best.Height, ""},
		{Source{At: "best"}, best.Height, ""},
		{Source{At: "16"}, 16, ""},
		{Source{Whole: true}, 17, ""},
	} {
		said := new(bytes.Buffer)
		r, found, err := test.source.Log(t.Context(), &verb.IO{Out: said, Err: said}, path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Height != test.height || (test.says != "") != strings.Contains(said.String(), "is the best one") || found != nil && found.Return != rollout.FromFitness(best.Score) {
			t.Errorf("%+v: height %d and %q, want %d and %q", test.source, r.Height, said, test.height, test.says)
		}
		if again, _, err := (&Source{At: "12"}).Log(t.Context(), &verb.IO{Out: said, Err: said}, path); err != nil || test.height == 12 && again.State.Digest() != r.State.Digest() {
			t.Errorf("another state of height 12 (%v)", err)
		}
	}
	out := new(bytes.Buffer)
	if err := list(t.Context(), &verb.IO{Out: out, Err: out}, path, false); err != nil || !strings.HasSuffix(out.String(), bestText(best)+"\n") {
		t.Errorf("log says %q (%v)", out, err)
	}
	out.Reset()
	if err := list(t.Context(), &verb.IO{Out: out, Err: out}, path, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var first, last logLine
	if json.Unmarshal([]byte(lines[0]), &first) != nil || json.Unmarshal([]byte(lines[16]), &last) != nil {
		t.Fatalf("%q", lines)
	}
	if want := (bestState{best.Height, rollout.FromFitness(best.Score), 8}); first.BestState != nil || last.BestState == nil || *last.BestState != want {
		t.Errorf("log --json says %+v at first and %+v at last, want %+v", first.BestState, last.BestState, want)
	}
	out.Reset()
	if err := (&replayFlags{check: "claims", json: true}).run(t.Context(), &verb.IO{Out: out, Err: out}, path); err != nil {
		t.Fatal(err)
	}
	if want := `"best_state":{"height":`; !strings.Contains(out.String(), want) {
		t.Errorf("replay --json says %s", out)
	}
}
