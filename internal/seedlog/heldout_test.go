package seedlog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// heldOutSpec is nextSpec with held-out results of every third state.
func heldOutSpec(t testing.TB, strategy string) *Spec {
	spec := nextSpec(t)
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	spec.Strategy = strategySpec(t, method, spec.Policy).Strategy
	spec.Best = &BestState{Every: 3, Results: 12}
	return spec
}

// held measures held-out chunks of a peer on the entry of a height.
func (r *staleRun) held(key ed25519.PrivateKey, height int, chunk, chunks uint64) *Claim {
	return r.claimOf(key, height, FirstHeldOut+chunk, chunks)
}

// most is how many held-out chunks of a peer on the entry of a height have a place in the next entry.
func (r *staleRun) most(key ed25519.PrivateKey, height int) uint64 {
	_, steps, all := r.window.HeldOut(r.links[height], PeerOf(key))
	return r.rules.HeldOutChunks(r.links[height], PeerOf(key), steps, all)
}

// own are two chunks of candidates of each peer on the newest entry.
func (r *staleRun) own() (claims []*Claim) {
	for _, key := range r.keys {
		claims = append(claims, r.claimOf(key, len(r.links)-1, 0, 2))
	}
	return claims
}

// heldOutRun is a run of so many entries in which peers play their held-out episodes at once, one and two entries late.
func heldOutRun(t testing.TB, strategy string, entries int) *staleRun {
	r := newStaleRun(t, heldOutSpec(t, strategy))
	for height := range entries {
		var claims []*Claim
		for i, key := range r.keys {
			claims = append(claims, r.claimOf(key, height, 0, 2))
			if on := height - i; on > 0 && r.rules.Evaluated(uint64(on)) {
				if most := r.most(key, on); most > 0 {
					claims = append(claims, r.held(key, on, 0, most))
				}
			}
		}
		slices.SortFunc(claims, func(a, b *Claim) int { // by the height of their parents
			if n := a.Peer.Compare(b.Peer); n != 0 || a.Parent == b.Parent {
				return n
			}
			return slices.Index(r.links, a.Parent) - slices.Index(r.links, b.Parent)
		})
		r.add(claims...)
	}
	return r
}

// TestGoldenHeldOut holds the bits of a run with held-out results, and reads it back: each is what a re-run gives, the
// best state is the one that counting finds, and no state is another than without them.
func TestGoldenHeldOut(t *testing.T) {
	for strategy, golden := range map[string]string{
		"snes": "b2e1c9f520c22126 9 10 524288000", "openai-es": "8fb2f7954f93ad52 6 14 411790774",
	} {
		r := heldOutRun(t, strategy, 14)
		var want Best
		held, all := 0, 0
		for i := range r.all {
			m := &r.all[i]
			candidates := slices.DeleteFunc(slices.Clone(m.claims), (*Claim).HeldOut)
			held, all = held+len(m.claims)-len(candidates), all+len(m.claims)
			if len(m.claims) > len(candidates) {
				if with, without := r.states[i+1].Digest(), r.rules.Apply(r.states[i], m.entry.Parent, candidates).Digest(); with != without {
					t.Errorf("%s: held-out results change the state of height %d", strategy, i+1)
				}
			}
		}
		for height := 3; height+2 < 14; height += 3 {
			var sum float64
			var n uint64
			for i := range r.all {
				for _, c := range r.all[i].claims {
					for k := 0; c.HeldOut() && c.Parent == r.links[height] && k < len(c.Fitness); k++ {
						sum, n = sum+rollout.FromFitness(c.Fitness[k]), n+1
					}
				}
			}
			if mean := sum / float64(n); n < 6 || n > 18 {
				t.Errorf("%s: %d results of height %d, want about 12", strategy, n, height)
			} else if want.Height == 0 || mean > rollout.FromFitness(want.Score) {
				want = Best{uint64(height), n, rollout.ToFitness(mean)}
			}
		}
		got, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{Check: CheckClaims})
		if err != nil {
			t.Fatal(err)
		}
		if best := got.Marks.Best; best.Height != want.Height || best.Results != want.Results || math.Abs(float64(best.Score-want.Score)) > 1 || held == 0 {
			t.Errorf("%s: the best state is %+v, want %+v (%d of %d claims are held out)", strategy, best, want, held, all)
		}
		if got.Checked != got.Evaluations {
			t.Errorf("%s: %d of %d evaluations were run again", strategy, got.Checked, got.Evaluations)
		}
		digest := got.State.Digest()
		if line := fmt.Sprintf("%x %d %d %d", digest[:8], got.Marks.Best.Height, got.Marks.Best.Results, got.Marks.Best.Score); line != golden {
			t.Errorf("%s: got %q, want %q", strategy, line, golden)
		}
	}
}

// TestHeldOutPlaces: what has no place is refused, whatever signed it.
func TestHeldOutPlaces(t *testing.T) {
	r := newStaleRun(t, heldOutSpec(t, "snes"))
	a, b := r.keys[0], r.keys[1]
	idle := newKey("idle")
	r.keys = r.keys[:2]
	for range 3 {
		r.add(r.own()...)
	}
	on := 3
	if r.most(a, on) < 2 || r.most(b, on) < 1 {
		t.Fatalf("%d and %d chunks", r.most(a, on), r.most(b, on))
	}
	own := r.own()
	with := func(claims ...*Claim) []*Claim {
		all := append(slices.Clone(own), claims...)
		slices.SortStableFunc(all, func(x, y *Claim) int { return x.Peer.Compare(y.Peer) })
		return all
	}
	tests := []struct {
		name   string
		claims []*Claim
		err    error
		says   string
	}{
		{"as it is", with(r.held(a, on, 0, 1), r.held(b, on, 0, 1)), nil, ""},
		{"one after the other", with(r.held(a, on, 0, 1), r.held(a, on, 1, 1)), nil, ""},
		{"two as one", with(r.held(a, on, 0, 2)), nil, ""},
		{"all", with(r.held(a, on, 0, r.most(a, on))), nil, ""},
		{"one more", with(r.held(a, on, 0, r.most(a, on)+1)), ErrCount, "whose work earns it"},
		{"one more, alone", with(r.held(a, on, 0, r.most(a, on)), r.held(a, on, r.most(a, on), 1)), ErrCount, "whose work earns it"},
		{"one left out", with(r.held(a, on, 1, 1)), ErrOrder, "where chunk 4294967296 belongs"},
		{"twice", with(r.held(a, on, 0, 1), r.held(a, on, 0, 1)), ErrOrder, "where chunk 4294967297 belongs"},
		{"before candidates", []*Claim{r.held(a, on, 0, 1), own[0], own[1]}, ErrOrder, "height 3 after those on height 3"},
		{"of another state", with(r.held(a, 2, 0, 1)), ErrOrder, "after those on height 3"},
		{"of another state, in order", []*Claim{r.held(a, 2, 0, 1), own[0], own[1]}, ErrOrder, "held-out claim on height 2"},
		{"of who did no work", append(with(), r.claimOfKey(idle, on, FirstHeldOut, 1)), ErrCount, "whose work earns it 0"},
		{"nothing else", []*Claim{r.held(a, on, 0, 2), r.held(b, on, 0, 1)}, ErrCount, "the spec asks for 4"},
	}
	check := func() {
		for _, test := range tests {
			if test.name == "of who did no work" {
				slices.SortStableFunc(test.claims, func(x, y *Claim) int { return x.Peer.Compare(y.Peer) })
			}
			e, checked, _ := r.entry(test.claims...)
			if err := r.rules.CheckPlace(e, r.parent(), checked); !errors.Is(err, test.err) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v, want %v that says %q", test.name, err, test.err, test.says)
			}
		}
	}
	check()
	for range 2 {
		r.add(r.own()...)
	}
	own = r.own()
	tests = tests[:0]
	tests = append(tests, []struct {
		name   string
		claims []*Claim
		err    error
		says   string
	}{
		{"two late", append([]*Claim{r.held(a, on, 0, 1)}, own...), nil, ""},
	}...)
	check()
	r.add(own...)
	own = r.own()
	tests[0].name, tests[0].claims, tests[0].err, tests[0].says = "three late", append([]*Claim{r.held(a, on, 0, 1)}, own...), ErrOrder, "in an entry on"
	check()
}

// claimOfKey is claimOf of a key that the run does not have.
func (r *staleRun) claimOfKey(key ed25519.PrivateKey, height int, chunk, chunks uint64) *Claim {
	return r.claimOf(key, height, chunk, chunks)
}

// TestHeldOutClaims: the form of a held-out claim.
func TestHeldOutClaims(t *testing.T) {
	rules := newRules(t, heldOutSpec(t, "openai-es"))
	plain := newRules(t, nextSpec(t))
	key := newKey("a")
	most := uint64(rules.Env.MaxSteps)
	for _, test := range []struct {
		name    string
		chunk   uint64
		fitness int
		steps   []uint64
		says    string
	}{
		{"as it is", FirstHeldOut, 2, []uint64{1, most}, ""},
		{"two chunks", FirstHeldOut + 4, 4, []uint64{1, 1, 1, 1}, ""},
		{"both signs", FirstHeldOut, 4, []uint64{2, 2}, "2 steps and 4 fitness values"},
		{"half a chunk", FirstHeldOut, 1, []uint64{1}, "1 steps and 1 fitness values"},
		{"none", FirstHeldOut, 0, nil, "0 steps and 0 fitness values"},
		{"no step", FirstHeldOut, 2, []uint64{0, 1}, "0 steps for an episode of at most"},
		{"a step too many", FirstHeldOut, 2, []uint64{most + 1, 1}, "steps for an episode of at most"},
		{"beyond the last", FirstHeldOut + 5, 4, []uint64{1, 1, 1, 1}, "held-out chunk 6, the spec allows 6 in all"},
		{"far beyond", math.MaxUint64, 2, []uint64{1, 1}, "the spec allows 6 in all"},
	} {
		claim := NewClaim(rules.Run, rules.Run, key, test.chunk, make([]int64, test.fitness), test.steps)
		data, _ := claim.Encode()
		if _, err := rules.CheckClaim(data); (err == nil) != (test.says == "") || err != nil && !(errors.Is(err, ErrCount) && strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want one that says %q", test.name, err, test.says)
		}
		claim = NewClaim(plain.Run, plain.Run, key, test.chunk, make([]int64, test.fitness), test.steps)
		data, _ = claim.Encode()
		if _, err := plain.CheckClaim(data); !errors.Is(err, ErrCount) || !strings.Contains(err.Error(), "none that is held out") {
			t.Errorf("%s in a run without: %v", test.name, err)
		}
	}
}

// TestHeldOutShares: who did all work has all held-out episodes, who did none has none, and all together have about as
// many as the spec asks for, however the work is divided.
func TestHeldOutShares(t *testing.T) {
	spec := heldOutSpec(t, "snes")
	spec.Best.Results, spec.Generation.Chunk = 64, 1
	rules := newRules(t, spec)
	on := LinkOf([]byte("state"))
	if n := rules.HeldOutChunks(on, Peer{1}, 1<<50, 1<<50); n != 64 {
		t.Errorf("who did all has %d", n)
	}
	if n := rules.HeldOutChunks(on, Peer{1}, 0, 1<<50); n != 0 {
		t.Errorf("who did nothing has %d", n)
	}
	const many = 400
	sum := uint64(0)
	for i := range uint64(many) {
		sum += rules.HeldOutChunks(on, Peer{byte(i), byte(i >> 8)}, 1, many)
	}
	if sum < 64/2 || sum > 64*3/2 {
		t.Errorf("%d chunks of %d equal peers, want about 64", sum, many)
	}
	rapid.Check(t, func(t *rapid.T) {
		on := LinkOf(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "state"))
		work := rapid.SliceOfN(rapid.Uint64Range(1, 1<<40), 1, 300).Draw(t, "work")
		var all, sum uint64
		for _, w := range work {
			all += w
		}
		for i, w := range work {
			n := rules.HeldOutChunks(on, Peer{byte(i), byte(i >> 8)}, w, all)
			if exact := 64 * float64(w) / float64(all); math.Abs(float64(n)-exact) >= 1.001 {
				t.Fatalf("%d chunks for %.3f", n, exact)
			}
			sum += n
		}
		if got := float64(sum); math.Abs(got-64) > 6*math.Sqrt(float64(len(work)))/2+1 {
			t.Fatalf("%d chunks of %d peers, want about 64", sum, len(work))
		}
	})
}

// TestMarks: a state is scored once its last entry is there, from half of the results on; the lowest of equals stays.
func TestMarks(t *testing.T) {
	rules := newRules(t, heldOutSpec(t, "snes")) // every third, within two entries, 12 results
	for _, test := range []struct {
		name string
		held map[uint64]Tally // by the height of the entry
		want map[uint64]Best  // up to an entry
	}{
		{"one state", map[uint64]Tally{4: {5, 50}, 6: {2, 21}}, map[uint64]Best{5: {}, 6: {3, 7, 10}, 20: {3, 7, 10}}},
		{"too few", map[uint64]Tally{4: {3, 50}, 5: {2, 21}}, map[uint64]Best{6: {}, 20: {}}},
		{"a better one", map[uint64]Tally{4: {6, 60}, 7: {12, 121}}, map[uint64]Best{6: {3, 6, 10}, 9: {3, 6, 10}, 10: {3, 6, 10}}},
		{"a better one by more", map[uint64]Tally{4: {6, 60}, 7: {12, 132}}, map[uint64]Best{8: {3, 6, 10}, 9: {6, 12, 11}}},
		{"below zero", map[uint64]Tally{4: {6, -61}, 9: {6, -60}}, map[uint64]Best{6: {3, 6, -11}, 9: {6, 6, -10}}},
		{"none before the first state", map[uint64]Tally{1: {12, 100}, 3: {12, 100}}, map[uint64]Best{3: {}, 6: {}}},
	} {
		var m Marks
		for height := uint64(1); height <= 20; height++ {
			m = rules.Mark(height, m, test.held[height])
			if want, ok := test.want[height]; ok && m.Best != want {
				t.Errorf("%s: %+v at height %d, want %+v", test.name, m.Best, height, want)
			}
		}
	}
	huge := TallyOf(&Claim{Chunk: FirstHeldOut, Fitness: []int64{math.MaxInt64, math.MaxInt64, evolve.InvalidFitness}})
	if huge != (Tally{3, maxScored}) {
		t.Errorf("what is too large counts %+v", huge)
	}
}

// TestBestOfSpec: what a spec may say of the best state.
func TestBestOfSpec(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *Spec)
		says   string
	}{
		{"as it is", func(*Spec) {}, ""},
		{"none", func(s *Spec) { s.Best = nil }, ""},
		{"the most", func(s *Spec) { s.Best = &BestState{MaxEvalEvery, MaxEvalEpisodes} }, ""},
		{"two states at a time", func(s *Spec) { s.Best.Every = 2 }, "best.every is 2, allowed 3 to 1048576"},
		{"too rare", func(s *Spec) { s.Best.Every = MaxEvalEvery + 1 }, "best.every is 1048577"},
		{"no results", func(s *Spec) { s.Best.Results = 0 }, "best.results is 0, allowed 1 to 10000"},
		{"too many", func(s *Spec) { s.Best.Results = MaxEvalEpisodes + 1 }, "best.results is 10001"},
		{"in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Best = &BestState{20, 64} }, "best is a field of format 2"},
		{"alone", func(s *Spec) {
			s.Nonce = make([]byte, 16)
			s.Origin = PeerOfSolo(s)
		}, "best is for swarms"},
	} {
		spec := heldOutSpec(t, "snes")
		test.change(spec)
		_, err := DecodeSpec(Encode(spec))
		if (err == nil) != (test.says == "") || err != nil && !(errors.Is(err, ErrSpec) && strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want one that says %q", test.name, err, test.says)
		}
	}
}

// PeerOfSolo is the origin of a run on one machine.
func PeerOfSolo(s *Spec) []byte {
	p := PeerOf(SoloKey(s))
	return p[:]
}

// TestSpecShowsHeldOut: the bytes in docs/spec/format2.md are those of the code.
func TestSpecShowsHeldOut(t *testing.T) {
	text, err := os.ReadFile("../../docs/spec/format2.md")
	if err != nil {
		t.Fatal(err)
	}
	spec := heldOutSpec(t, "snes")
	spec.Best = &BestState{Every: 40, Results: 64}
	claim := NewClaim(LinkOf(nil), LinkOf(nil), newKey("a"), FirstHeldOut+5, []int64{1 << 20}, []uint64{200})
	for name, part := range map[string]struct{ block, shown string }{
		"spec":  {hex.EncodeToString(Encode(spec)), "6462657374 a2 656576657279 1828 67726573756c7473 1840"},
		"claim": {hex.EncodeToString(Encode(claim)), "1b0000000100000005 81 1a00100000 81 18c8"},
	} {
		if !strings.Contains(string(text), "`"+part.shown+"`") {
			t.Errorf("the specification does not show %s", part.shown)
		}
		if !strings.Contains(part.block, strings.ReplaceAll(part.shown, " ", "")) {
			t.Errorf("%s: %s is not in %s", name, part.shown, part.block)
		}
	}
}
