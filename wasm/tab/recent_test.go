package main

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// grown is a real run of two peers, in a store and as a file.
type grown struct {
	rules  *seedlog.Rules
	log    store.Store
	file   []byte
	self   seedlog.Peer
	states map[seedlog.Link]*evolve.State
	links  []seedlog.Link
}

// grow lets two peers evaluate n generations of a strategy, each half of every generation.
func grow(t *testing.T, strategy string, n int) grown {
	t.Helper()
	keys := make([]ed25519.PrivateKey, 2)
	for i := range keys {
		keys[i] = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
	}
	slices.SortFunc(keys, func(a, b ed25519.PrivateKey) int { return seedlog.PeerOf(a).Compare(seedlog.PeerOf(b)) })
	origin := seedlog.PeerOf(keys[0])
	rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: strategy, Nonce: [16]byte{1}, Origin: origin, Format: seedlog.Format1})
	if err != nil {
		t.Fatal(err)
	}
	spec := *rules.Spec
	spec.Generation.Chunk, spec.Generation.Quota = 2, spec.Generation.Evaluations
	if rules, err = seedlog.NewRules(&spec); err != nil {
		t.Fatal(err)
	}
	g := grown{rules: rules, log: store.NewMemory(&spec), self: seedlog.PeerOf(keys[1]), states: map[seedlog.Link]*evolve.State{}}
	var file bytes.Buffer
	w := seedlog.NewWriter(&file)
	if _, err := w.WriteBeginning(rules); err != nil {
		t.Fatal(err)
	}
	pool := rollout.NewPool(rules.Plan, 1)
	state, parent := rules.Initial(), seedlog.Parent{Link: rules.Run}
	for range n {
		g.states[parent.Link] = state
		var claims []*seedlog.Claim
		chunks := spec.Generation.Evaluations / rules.EvaluationsPerChunk()
		for i, key := range keys {
			own, err := rules.Measure(pool, state, parent.Link, key, (chunks+uint64(i))/2, nil)
			if err != nil {
				t.Fatal(err)
			}
			claims = append(claims, own...)
		}
		entry, next := rules.NewEntry(state, parent, 1, origin, claims)
		seal := seedlog.NewSeal(entry, keys[0], []seedlog.Vote{seedlog.NewVote(rules.Run, 1, origin, keys[0])})
		if parent.Height > 0 {
			seal = seedlog.NewSeal(entry, keys[0], nil)
		}
		block, link := entry.Encode()
		sealed, sealLink := seal.Encode()
		batch := store.Batch{Blocks: []seedlog.RawBlock{seedlog.NewRawBlock(block), seedlog.NewRawBlock(sealed)},
			Head: &store.HeadMove{Fork: parent.Height, Entries: []seedlog.Link{link}, Seals: []seedlog.Link{sealLink}}}
		for _, c := range claims {
			data, _ := c.Encode()
			batch.Blocks = append(batch.Blocks, seedlog.NewRawBlock(data))
		}
		if err := g.log.Save(batch); err != nil {
			t.Fatal(err)
		}
		if _, err := w.AppendEntry(entry, seal, claims); err != nil {
			t.Fatal(err)
		}
		parent = rules.After(parent, link, entry, claims)
		g.links = append(g.links, link)
		state = next
	}
	g.file = file.Bytes()
	return g
}

func (g grown) reader() recentReader {
	return recentReader{log: g.log, rules: g.rules, self: g.self, on: func(l seedlog.Link) *evolve.State { return g.states[l] }}
}

// TestRecent: the newest generations in order, with this tab's own results apart; and no more than an answer may hold.
func TestRecent(t *testing.T) {
	g := grow(t, "snes", 5)
	got := g.reader().above(2)
	if len(got) != 3 || got[0].Height != 3 || got[2].Height != 5 {
		t.Fatalf("got %+v, want the generations 3 to 5", got)
	}
	for _, e := range got {
		if e.Peers != 2 || e.Mine == 0 || e.Mine < e.Total/2 || e.Best == nil || len(e.Others) == 0 || len(e.Own) == 0 {
			t.Errorf("got %+v, want parts of two peers", e)
		}
		if most := max(slices.Max(e.Others), slices.Max(e.Own)); most != *e.Best {
			t.Errorf("the best is %v, the best that is drawn %v", *e.Best, most)
		}
		if len(e.Others) > othersPoints || len(e.Own) > ownPoints {
			t.Errorf("%d and %d points", len(e.Others), len(e.Own))
		}
	}
	if got := g.reader().above(5); len(got) != 0 {
		t.Errorf("above the head: %+v", got)
	}
	long := recentReader{log: chain(t, 3*recentEntries), rules: g.rules, self: g.self, on: func(seedlog.Link) *evolve.State { return nil }}
	if got := long.above(0); len(got) != recentEntries || got[len(got)-1].Height != 3*recentEntries {
		t.Errorf("a long log gives %d generations up to %d", len(got), got[len(got)-1].Height)
	}
}

// TestMove: what the page plays as this tab's candidate is the very one whose fitness is in the log.
func TestMove(t *testing.T) {
	for _, strategy := range []string{"snes", "openai-es", "cma-es"} {
		g := grow(t, strategy, 6)
		moves := 0
		for _, e := range g.reader().above(0) {
			if e.Move == nil {
				continue
			}
			moves++
			m := e.Move
			if m.Height != e.Height || m.Rank < 1 || m.Rank > m.Of || m.Of != e.Total {
				t.Errorf("%s: %+v", strategy, m)
			}
			if shares := strategy != "cma-es"; (m.Share != nil) != shares || shares && (*m.Share <= 0 || *m.Share > 1) {
				t.Errorf("%s: a share of %v", strategy, m.Share)
			}
			c := m.candidate
			theta := make([]float32, len(c.state.Theta))
			g.rules.Strategy.Candidate(theta, c.state, c.seed, float32(c.sign))
			if got := g.fitness(t, e.Height, c, theta); got != m.Score {
				t.Errorf("%s: generation %d: the candidate gets %v, the log says %v", strategy, e.Height, got, m.Score)
			}
		}
		if moves == 0 {
			t.Errorf("%s: in six generations nothing of one of two peers moved the model", strategy)
		}
	}
	g := grow(t, "snes", 6)
	g.states = nil
	for _, e := range g.reader().above(0) {
		if e.Move != nil {
			t.Errorf("got %+v, whose state is not at hand", e.Move)
		}
	}
}

// fitness runs a candidate on the episodes of the counter whose seed it has.
func (g grown) fitness(t *testing.T, height uint64, c candidate, theta []float32) float32 {
	t.Helper()
	parent := g.rules.Run
	if height > 1 {
		parent = g.links[height-2]
	}
	for counter := range uint64(1000) {
		if g.rules.Seed(parent, g.self, counter) == c.seed {
			out := rollout.NewEvaluator(g.rules.Plan).Run(c.state, theta, g.rules.EpisodeSeeds(parent, g.self, counter))
			return float32(rollout.FromFitness(out.Fitness))
		}
	}
	t.Fatal("no counter has this seed")
	return 0
}

// TestAlbum: candidates that the page may ask for are bounded, and those of a replaced generation go.
func TestAlbum(t *testing.T) {
	state := &evolve.State{Theta: make([]float32, 100)}
	at := func(height uint64, id string) recentEntry {
		return recentEntry{Height: height, Move: &move{ID: id, Height: height, candidate: candidate{state: state}}}
	}
	var a album
	for h := range uint64(100) {
		a.put([]recentEntry{at(h, string(rune('a'+h)))})
	}
	if len(a) != albumMoves || a[0].Height != 100-albumMoves {
		t.Errorf("%d moves from %d on", len(a), a[0].Height)
	}
	a.put([]recentEntry{at(90, "again")})
	if m, ok := a.find("again"); !ok || m.Height != 90 || a[len(a)-1].ID != "again" {
		t.Errorf("after generation 90 was replaced: %+v", a)
	}
	large := &evolve.State{Theta: make([]float32, keptValues)}
	a.put([]recentEntry{{Height: 91, Move: &move{ID: "large", Height: 91, candidate: candidate{state: large}}}})
	if len(a) != 1 || a[0].ID != "large" {
		t.Errorf("%d moves next to a large one", len(a))
	}
}

func TestKept(t *testing.T) {
	var s kept
	state := func(n int) *evolve.State { return &evolve.State{Theta: make([]float32, n)} }
	link := func(n int) seedlog.Link { return seedlog.LinkOf([]byte{byte(n), byte(n >> 8)}) }
	for i := range 3 * keptStates {
		s.put(link(i), state(10))
		s.put(link(i), state(10))
	}
	if len(s.states) != keptStates || s.on(link(3*keptStates-1)) == nil || s.on(link(0)) != nil || s.values != 10*keptStates {
		t.Errorf("%d states with %d values", len(s.states), s.values)
	}
	s.put(link(1000), state(2*keptValues))
	if len(s.states) != 1 || s.on(link(1000)) == nil {
		t.Errorf("%d states, with one that is too large", len(s.states))
	}
}

// TestCheckLog: a true log passes, to the digest that its last entry has; one with a changed bit, of another
// branch, or that ends below what the page shows does not.
func TestCheckLog(t *testing.T) {
	g := grow(t, "snes", 4)
	head := g.links[3].String()
	var heights []uint64
	got, err := checkLog(bytes.NewReader(g.file), 4, head, func(h uint64, offset int64) {
		heights = append(heights, h)
		if offset > int64(len(g.file)) {
			t.Errorf("at %d of %d bytes", offset, len(g.file))
		}
	})
	if err != nil || got.Height != 4 || got.Head != head || len(got.Theta) != 64 || got.Peers != 2 || got.Evaluations == 0 || got.Base != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if !slices.Equal(heights, []uint64{1, 2, 3, 4}) {
		t.Errorf("told of the generations %v", heights)
	}
	quiet := func(uint64, int64) {}
	if _, err := checkLog(bytes.NewReader(g.file), 3, head, quiet); !errors.Is(err, errOtherHead) {
		t.Errorf("with another entry at the page's height: %v", err)
	}
	if _, err := checkLog(bytes.NewReader(g.file), 5, head, quiet); err == nil {
		t.Error("a log that ends below the page's height passes")
	}
	for at := 0; at < len(g.file); at += 97 {
		bad := bytes.Clone(g.file)
		bad[at] ^= 1
		if got, err := checkLog(bytes.NewReader(bad), 4, head, quiet); err == nil {
			t.Fatalf("with a changed bit at %d: %+v", at, got)
		}
	}
}
