package seedlog

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// nextSpec returns the spec of a swarm's run of format 2, whose claims may lie two entries back.
func nextSpec(t testing.TB) *Spec {
	t.Helper()
	method, err := evolve.Find("snes")
	if err != nil {
		t.Fatal(err)
	}
	spec := strategySpec(t, method, newSpec(t, "dises").Policy)
	spec.Format, spec.SpotChecks = Format2, &SpotChecks{First: 10, Share: 32}
	spec.Generation = Generation{Evaluations: 4, Open: true, Chunk: 2, Quota: 4, MaxStale: 2, WeightSteps: 8000, Duration: 250}
	spec.Nonce = bytes.Repeat([]byte{7}, 16)
	return spec
}

// staleRun makes generations whose claims lie up to max_stale entries back.
type staleRun struct {
	t      testing.TB
	rules  *Rules
	pool   *rollout.Pool
	keys   []ed25519.PrivateKey
	states []*evolve.State // after the genesis and each entry
	links  []Link
	all    []made
	window *Window
	logged map[[2]any]uint64 // chunks by peer and parent
}

func newStaleRun(t testing.TB, spec *Spec) *staleRun {
	rules := newRules(t, spec)
	r := &staleRun{t: t, rules: rules, pool: rollout.NewPool(rules.Plan, 2), window: rules.NewWindow(), logged: make(map[[2]any]uint64)}
	r.states, r.links = []*evolve.State{rules.Initial()}, []Link{rules.Run}
	for _, name := range []string{"a", "b", "c"} {
		r.keys = append(r.keys, newKey(name))
	}
	slices.SortFunc(r.keys, func(a, b ed25519.PrivateKey) int { return PeerOf(a).Compare(PeerOf(b)) })
	return r
}

// claim measures a chunk of a peer on the entry of a height.
func (r *staleRun) claim(key ed25519.PrivateKey, height int, chunk uint64) *Claim {
	return r.claimOf(key, height, chunk, 1)
}

// claimOf measures several chunks as one claim.
func (r *staleRun) claimOf(key ed25519.PrivateKey, height int, chunk, chunks uint64) *Claim {
	size := r.rules.Spec.Generation.Chunk
	results, err := r.pool.Evaluate(r.rules.Range(r.states[height], r.links[height], PeerOf(key), chunk*size, chunks*size), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.rules.Claim(r.links[height], key, chunk, results)
}

func (r *staleRun) parent() Parent {
	height := len(r.links) - 1
	p := Parent{Link: r.links[height], Height: uint64(height), Term: uint64(min(height, 1)), Below: r.window}
	if height > 0 {
		p.Duration = r.all[height-1].entry.Duration
	}
	return p
}

// entry closes a generation of claims, valid or not.
func (r *staleRun) entry(claims ...*Claim) (CheckedEntry, []CheckedClaim, *evolve.State) {
	entry, next := r.rules.NewEntry(r.states[len(r.states)-1], r.parent(), 1, PeerOf(r.keys[0]), claims)
	checked := make([]CheckedClaim, len(claims))
	for i, c := range claims {
		checked[i] = r.rules.OwnClaim(c)
	}
	return r.rules.OwnEntry(entry, r.keys[0], nil), checked, next
}

// add appends a generation.
func (r *staleRun) add(claims ...*Claim) {
	r.t.Helper()
	e, checked, next := r.entry(claims...)
	if err := r.rules.CheckPlace(e, r.parent(), checked); err != nil {
		r.t.Fatalf("height %d: %v", len(r.links), err)
	}
	for _, c := range claims {
		r.logged[[2]any{c.Peer, c.Parent}] += r.rules.Chunks(c)
	}
	r.all = append(r.all, made{e.Value(), e.Seal().Value(), claims, r.states[len(r.states)-1]})
	r.states, r.links = append(r.states, next), append(r.links, e.Link())
	r.window.Add(e.Link(), e.Value().Height, claims)
}

func evaluationsOf(claims []*Claim) (n uint64) {
	for _, c := range claims {
		n += c.Evaluations()
	}
	return n
}

// grownStaleRun has twelve generations whose claims lie anywhere within max_stale and cover one to three chunks.
func grownStaleRun(t testing.TB) (r *staleRun, stale, long int) { return grown(t, nextSpec(t)) }

func grown(t testing.TB, spec *Spec) (r *staleRun, stale, long int) {
	r = newStaleRun(t, spec)
	draw := noise.NewStream(5, noise.DomainEpisode)
	for height := range 12 {
		var claims []*Claim
		for _, key := range r.keys {
			for on := max(0, height-2); on <= height; on++ {
				next := r.logged[[2]any{PeerOf(key), r.links[on]}]
				for left := min(uint64(draw.IntN(0, 4)), 4-next); left > 0; {
					chunks := uint64(draw.IntN(1, int64(left)+1))
					claims = append(claims, r.claimOf(key, on, next, chunks))
					next, left = next+chunks, left-chunks
					if on < height {
						stale++
					}
					if chunks > 1 {
						long++
					}
				}
			}
		}
		if evaluationsOf(claims) < 4 {
			on := r.logged[[2]any{PeerOf(r.keys[2]), r.links[height]}]
			claims = []*Claim{r.claim(r.keys[2], height, on), r.claim(r.keys[2], height, on+1)}
		}
		r.add(claims...)
	}
	return r, stale, long
}

// TestStaleReplay writes a log whose claims lie anywhere within max_stale and cover one to three chunks, and reads it
// back: the scanner finds every claim in its place, the fold gives the same bits, and each evaluation comes out the
// same on the state that it names.
func TestStaleReplay(t *testing.T) {
	r, stale, long := grownStaleRun(t)
	if stale < 10 || long < 10 {
		t.Fatalf("%d stale claims, %d of several chunks, want more", stale, long)
	}
	log := file(r.rules, r.all...)
	got, err := Replay(bytes.NewReader(log), ReplayOptions{Check: CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.states[12].Digest(); got.Height != 12 || got.State.Digest() != want || got.Checked != got.Evaluations {
		t.Errorf("height %d, state %x, %d of %d evaluations re-run; want 12, %x and all", got.Height, got.State.Digest(), got.Checked, got.Evaluations, want)
	}
}

// TestCapGrows: the states of a run whose cap grows say what it is, and the log gives the same bits again.
func TestCapGrows(t *testing.T) {
	spec := nextSpec(t)
	spec.Generation.Evaluations, spec.Generation.Growth = 2, 3
	spec.Episodes.Cap, spec.Generation.CapGrowth = 1.5, true
	r, _, _ := grown(t, spec)
	caps := map[uint64]int{}
	for _, s := range r.states[1:] {
		caps[s.Slot("episode/cap").Words[0]]++
	}
	if caps[3<<15] == len(r.all) || caps[0] > 0 {
		t.Errorf("caps in units of 2^-16 and how many entries have them: %v, want larger ones than 1.5", caps)
	}
	got, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{Check: CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.states[len(r.states)-1].Digest(); got.State.Digest() != want || got.Checked != got.Evaluations {
		t.Errorf("state %x, %d of %d evaluations re-run; want %x and all", got.State.Digest(), got.Checked, got.Evaluations, want)
	}
}

// TestPooled: a run that pools results moves as if all of an entry had been measured on one state, and its log gives
// the same bits again. One that does not pool them goes elsewhere, as its logs always did.
func TestPooled(t *testing.T) {
	spec := nextSpec(t)
	spec.Generation.Pooled = true
	r, stale, _ := grown(t, spec)
	apart, _, _ := grownStaleRun(t)
	var differ int
	for height, made := range r.all {
		results := r.rules.Results(made.entry.Parent, made.claims)
		for i := range results {
			results[i].Group = 0
		}
		want := r.rules.Plan.Apply(made.state, results, r.rules.ObserveSeeds(made.entry.Parent))
		if digest := want.Digest(); !bytes.Equal(made.entry.State, digest[:]) {
			t.Errorf("height %d: state %x, want %x", height+1, made.entry.State, digest)
		}
		if next := apart.rules.Apply(made.state, made.entry.Parent, made.claims); next.Digest() != want.Digest() {
			differ++
		}
	}
	if stale < 10 || differ < 5 {
		t.Errorf("%d stale claims, %d entries that move otherwise where results are not pooled, want more", stale, differ)
	}
	got, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{Check: CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.states[12].Digest(); got.State.Digest() != want || got.Checked != got.Evaluations {
		t.Errorf("state %x, %d of %d evaluations re-run; want %x and all", got.State.Digest(), got.Checked, got.Evaluations, want)
	}
}

// TestStaleLie: a false result of a stale claim is found on the state that it names.
func TestStaleLie(t *testing.T) {
	r := newStaleRun(t, nextSpec(t))
	a, b := r.keys[0], r.keys[1]
	r.add(r.claim(a, 0, 0), r.claim(a, 0, 1))
	r.add(r.claim(a, 1, 0), r.claim(a, 1, 1))
	honest := r.claim(b, 0, 0)
	lie := NewClaim(r.rules.Run, honest.Parent, b, 0, append([]int64{honest.Fitness[0] + 1}, honest.Fitness[1:]...), honest.Steps)
	r.add(r.claim(a, 2, 0), lie)
	_, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{Check: CheckClaims})
	var at *FileError
	if !errors.Is(err, ErrFalseClaim) || !errors.As(err, &at) || at.Height != 3 {
		t.Errorf("got %v, want a false claim at height 3", err)
	}
	if _, err := Replay(bytes.NewReader(file(r.rules, r.all...)), ReplayOptions{Check: CheckDigests}); err != nil {
		t.Errorf("digests: %v", err)
	}
}

// TestStalePlaces: what has no place in an entry is refused, whatever signed it.
func TestStalePlaces(t *testing.T) {
	r := newStaleRun(t, nextSpec(t))
	a, b := r.keys[0], r.keys[1]
	other := newStaleRun(t, nextSpec(t))
	other.add(other.claim(b, 0, 0), other.claim(b, 0, 1)) // an orphan: another entry of height 1
	for height := range 3 {
		r.add(r.claim(a, height, 0), r.claim(a, height, 1))
	}
	own := []*Claim{r.claim(a, 3, 0), r.claim(a, 3, 1)}
	orphan := other.claim(b, 1, 0)
	for _, test := range []struct {
		name   string
		claims []*Claim
		err    error
		says   string
	}{
		{"of the parent", own, nil, ""},
		{"two back", append(slices.Clone(own), r.claim(b, 1, 0)), nil, ""},
		{"three back", append(slices.Clone(own), r.claim(b, 0, 0)), ErrOrder, "in an entry on"},
		{"on an orphan", append(slices.Clone(own), orphan), ErrOrder, "in an entry on"},
		{"of another peer first", []*Claim{r.claim(b, 1, 0), own[0], own[1]}, ErrOrder, "after those of"},
		{"logged already", append([]*Claim{r.claim(a, 2, 1)}, own...), ErrOrder, "where chunk 2 belongs"},
		{"the next one of those logged", append([]*Claim{r.claim(a, 2, 2)}, own...), nil, ""},
		{"one left out", append([]*Claim{r.claim(a, 2, 3)}, own...), ErrOrder, "where chunk 2 belongs"},
		{"newer before older", append(slices.Clone(own), r.claim(a, 2, 2)), ErrOrder, "height 2 after those on height 3"},
		{"twice", append([]*Claim{r.claim(a, 2, 2), r.claim(a, 2, 2)}, own...), ErrOrder, "where chunk 3 belongs"},
		{"two chunks as one", append([]*Claim{r.claimOf(a, 2, 2, 2)}, own...), nil, ""},
		{"one of them logged already", append([]*Claim{r.claimOf(a, 2, 1, 2)}, own...), ErrOrder, "where chunk 2 belongs"},
		{"one of them again", append([]*Claim{r.claimOf(a, 2, 2, 2), r.claim(a, 2, 3)}, own...), ErrOrder, "where chunk 4 belongs"},
		{"two parents in order", append([]*Claim{r.claim(a, 1, 2), r.claim(a, 2, 2), r.claim(a, 2, 3)}, own...), nil, ""},
	} {
		e, checked, _ := r.entry(test.claims...)
		if err := r.rules.CheckPlace(e, r.parent(), checked); !errors.Is(err, test.err) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v that says %q", test.name, err, test.err, test.says)
		}
		parent := r.parent()
		parent.Below = nil
		if err := r.rules.CheckPlace(e, parent, checked); len(test.claims) > 2 && err == nil {
			t.Errorf("%s: it has a place without the entries below", test.name)
		}
	}
}

// TestFormat2: its fields are refused in format 1 and checked in format 2.
func TestFormat2(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *Spec)
		err    error
		says   string
	}{
		{"as it is", func(*Spec) {}, nil, ""},
		{"the most", func(s *Spec) { s.Generation.MaxStale, s.SpotChecks = MaxStale, &SpotChecks{MaxSpotFirst, MaxSpotShare} }, nil, ""},
		{"too stale", func(s *Spec) { s.Generation.MaxStale = MaxStale + 1 }, ErrSpec, "generation.max_stale is 17, allowed 0 to 16"},
		{"no spot checks", func(s *Spec) { s.SpotChecks = nil }, ErrSpec, "spot_checks is missing"},
		{"no first", func(s *Spec) { s.SpotChecks = &SpotChecks{0, 32} }, ErrSpec, "spot_checks.first is 0, allowed 1 to 65536"},
		{"no share", func(s *Spec) { s.SpotChecks = &SpotChecks{10, 0} }, ErrSpec, "spot_checks.share is 0, allowed 1 to 1024"},
		{"small share", func(s *Spec) { s.SpotChecks = &SpotChecks{10, MaxSpotShare + 1} }, ErrSpec, "spot_checks.share is 1025"},
		{"stale in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Generation.MaxStale = 1 }, ErrSpec, "fields of format 2"},
		{"spot checks in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.SpotChecks = &SpotChecks{10, 32} }, ErrSpec, "fields of format 2"},
		{"a step that grows", func(s *Spec) { s.Generation.Growth = MaxGrowth }, nil, ""},
		{"one that grows too much", func(s *Spec) { s.Generation.Growth = MaxGrowth + 1 }, ErrSpec, "generation.growth is 17, allowed 0 to 16"},
		{"one that grows in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Generation.Growth = 8 }, ErrSpec, "fields of format 2"},
		{"a strategy whose step does not grow", func(s *Spec) {
			s.Strategy, s.Generation.MaxStale, s.Generation.Growth = newSpec(t, "dises").Strategy, 0, 8
		}, ErrSpec, "the step of dises does not grow"},
		{"pooled", func(s *Spec) { s.Generation.Pooled = true }, nil, ""},
		{"pooled of one state", func(s *Spec) { s.Generation.MaxStale, s.Generation.Pooled = 0, true }, ErrSpec, "generation.pooled is true, but"},
		{"pooled in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Generation.Pooled = true }, ErrSpec, "generation.pooled"},
		{"a cap that grows", func(s *Spec) { s.Episodes.Cap, s.Generation.Growth, s.Generation.CapGrowth = 1.3, 2, true }, nil, ""},
		{"no cap that grows", func(s *Spec) { s.Generation.Growth, s.Generation.CapGrowth = 2, true }, ErrSpec, "generation.growth is 2 and episodes.cap 0: it takes"},
		{"a cap that grows to itself", func(s *Spec) { s.Episodes.Cap, s.Generation.Growth, s.Generation.CapGrowth = 1.3, 1, true }, ErrSpec, "generation.growth is 1 and episodes.cap 1.3: it takes"},
		{"a cap that grows in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Episodes.Cap, s.Generation.CapGrowth = 1.3, true }, ErrSpec, "generation.cap_growth is true"},
		{"a strategy that takes none", func(s *Spec) { s.Strategy = newSpec(t, "dises").Strategy }, ErrSpec, "dises with these settings takes no results of earlier states"},
	} {
		spec := nextSpec(t)
		test.change(spec)
		read, err := DecodeSpec(Encode(spec))
		if err == nil {
			_, err = NewRules(read)
		}
		if !errors.Is(err, test.err) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v that says %q", test.name, err, test.err, test.says)
		}
	}
}
