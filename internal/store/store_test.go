//go:build !js

package store

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newRules returns a run of two claims per generation: that of a swarm, whose entries name batches unless the seed is
// 4, or a solo one.
func newRules(t testing.TB, seed uint64, solo bool) *seedlog.Rules {
	t.Helper()
	method, err := evolve.FindRevision("dises", 1)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := &seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 4, Open: !solo, Chunk: 2, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Seed:       seed, Nonce: make([]byte, 16), Origin: make([]byte, 32),
	}
	if solo {
		origin := seedlog.PeerOf(seedlog.SoloKey(spec))
		spec.Origin = origin[:]
	} else {
		spec.Nonce[0] = 1
		if seed != 4 {
			spec.Format, spec.SpotChecks = seedlog.Format2, &seedlog.SpotChecks{First: 1, Share: 32}
			spec.Generation.Duration, spec.Generation.Batch = 250, 1
		}
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// generation is one entry with its blocks.
type generation struct {
	entry  *seedlog.Entry
	seal   *seedlog.Seal
	claims []*seedlog.Claim
	link   seedlog.Link
	state  *evolve.State
}

func (g *generation) blocks() [][]byte {
	blocks := [][]byte{seedlog.Encode(g.entry), seedlog.Encode(g.seal)}
	for _, b := range g.entry.Blocks() {
		blocks = append(blocks, b.Bytes())
	}
	for _, c := range g.claims {
		blocks = append(blocks, seedlog.Encode(c))
	}
	return blocks
}

// raw are blocks with their links.
func raw(blocks ...[]byte) []seedlog.RawBlock {
	var all []seedlog.RawBlock
	for _, data := range blocks {
		all = append(all, seedlog.NewRawBlock(data))
	}
	return all
}

func (g *generation) sealLink() seedlog.Link { return seedlog.LinkOf(seedlog.Encode(g.seal)) }

// grow returns n real generations on from (nil: the genesis), measured and sealed by key.
func grow(t testing.TB, rules *seedlog.Rules, from *generation, key ed25519.PrivateKey, n int) []*generation {
	t.Helper()
	parent := seedlog.Parent{Link: rules.Run}
	state := rules.Initial()
	if from != nil {
		parent, state = seedlog.Parent{Link: from.link, Height: from.entry.Height, Term: 1}, from.state
	}
	pool := rollout.NewPool(rules.Plan, 1)
	var all []*generation
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := &generation{claims: claims}
		g.entry, g.state = rules.NewEntry(state, parent, 1, seedlog.PeerOf(key), claims)
		g.seal = seedlog.NewSeal(g.entry, key, nil)
		_, g.link = g.entry.Encode()
		parent, state = seedlog.Parent{Link: g.link, Height: g.entry.Height, Term: 1}, g.state
		all = append(all, g)
	}
	return all
}

func newKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// move is the batch that makes all the canonical chain above fork.
func move(fork uint64, state string, all ...*generation) Batch {
	b := Batch{State: []byte(state), Head: &HeadMove{Fork: fork}}
	for _, g := range all {
		b.Blocks = append(b.Blocks, raw(g.blocks()...)...)
		b.Head.Entries = append(b.Head.Entries, g.link)
		b.Head.Seals = append(b.Head.Seals, g.sealLink())
	}
	return b
}

func links(all ...*generation) []seedlog.Link {
	var l []seedlog.Link
	for _, g := range all {
		l = append(l, g.link)
	}
	return l
}

func openRun(t testing.TB, dir string, rules *seedlog.Rules) (*Disk, *Run) {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.OpenRun(rules)
	if err != nil {
		d.Close()
		t.Fatal(err)
	}
	return d, r
}

// chainOf lists the canonical entries and their seals, and checks that each entry is found by its link.
func chainOf(s Store) (entries, seals []seedlog.Link) {
	for height := uint64(1); height <= s.Length(); height++ {
		entry, seal, ok := s.At(height)
		if at, found := s.Height(entry); !ok || !found || at != height {
			return nil, nil
		}
		entries, seals = append(entries, entry), append(seals, seal)
	}
	return entries, seals
}

// holds fails unless s has the chain, the state and every block of all.
func holds(t testing.TB, s Store, state string, chain []*generation, all ...*generation) {
	t.Helper()
	entries, seals := chainOf(s)
	if !slices.Equal(entries, links(chain...)) {
		t.Fatalf("chain of %d, want %d or other links", len(entries), len(chain))
	}
	for i, g := range chain {
		if seals[i] != g.sealLink() {
			t.Errorf("height %d has another seal", i+1)
		}
	}
	if got := string(s.State()); got != state {
		t.Errorf("state %q, want %q", got, state)
	}
	for _, g := range append(slices.Clone(chain), all...) {
		for _, want := range g.blocks() {
			if got, ok := s.Block(seedlog.LinkOf(want)); !ok || !bytes.Equal(got, want) {
				t.Fatalf("a block of height %d is missing or changed", g.entry.Height)
			}
		}
	}
}

// replays fails unless the log file is whole and ends at the head of chain.
func replays(t testing.TB, path string, chain []*generation) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := seedlog.Replay(f, seedlog.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Truncated || r.Height != uint64(len(chain)) || len(chain) > 0 && r.Link != chain[len(chain)-1].link {
		t.Errorf("the log replays to height %d (truncated: %t), want %d", r.Height, r.Truncated, len(chain))
	}
}

// Every store takes the same steps and holds the same.
func TestStores(t *testing.T) {
	rules := newRules(t, 1, false)
	first := grow(t, rules, nil, newKey("a"), 4)
	other := grow(t, rules, first[1], newKey("b"), 3)
	steps := func(t *testing.T, s Store) {
		save := func(b Batch) {
			t.Helper()
			if err := s.Save(b); err != nil {
				t.Fatal(err)
			}
		}
		holds(t, s, "", nil)
		if s.State() != nil {
			t.Errorf("a new store has a state")
		}
		save(Batch{Blocks: raw(first[0].blocks()[2:]...)}) // claims alone
		save(move(0, "one", first[0]))
		holds(t, s, "one", first[:1])
		save(move(1, "two", first[1], first[2], first[3]))
		holds(t, s, "two", first)
		save(Batch{Blocks: raw(other[0].blocks()...)})
		holds(t, s, "two", first, other[0])
		save(move(2, "three", other...))
		holds(t, s, "three", append(slices.Clone(first[:2]), other...), first...)
		save(Batch{State: []byte("four")})
		save(Batch{Head: &HeadMove{Fork: 1}})
		holds(t, s, "four", first[:1], other...)
		save(Batch{})

		if err := s.Save(Batch{Head: &HeadMove{Fork: 9}}); !errors.Is(err, ErrBatch) {
			t.Errorf("move above the head: %v", err)
		}
		unknown := seedlog.LinkOf([]byte{1})
		if err := s.Save(Batch{Head: &HeadMove{Entries: []seedlog.Link{unknown}, Seals: []seedlog.Link{unknown}}}); !errors.Is(err, ErrBatch) {
			t.Errorf("move to an unknown entry: %v", err)
		}
		holds(t, s, "four", first[:1], other...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(Batch{State: []byte("late")}); !errors.Is(err, ErrClosed) {
			t.Errorf("save after close: %v", err)
		}
	}
	t.Run("memory", func(t *testing.T) { steps(t, NewMemory(rules.Spec)) })
	t.Run("browser", func(t *testing.T) {
		rows := newTestRows()
		steps(t, openRows(t, rules, rows))
		holds(t, openRows(t, rules, rows), "four", first[:1], other...)
	})
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		d, r := openRun(t, dir, rules)
		steps(t, r)
		replays(t, r.LogPath(), first[:1])
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d, r = openRun(t, dir, rules)
		defer d.Close()
		holds(t, r, "four", first[:1], other...)
		if len(r.Notes()) > 0 {
			t.Errorf("repaired after a clean end: %q", r.Notes())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if spec, err := d.Spec(rules.Run); err != nil || spec.Link() != rules.Run {
			t.Errorf("spec: %v", err)
		}
	})
}

// files reads a folder's files.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func writeFiles(t testing.TB, dir string, all map[string][]byte) {
	t.Helper()
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What had been promised is never cut.
func TestRunDamage(t *testing.T) {
	rules := newRules(t, 3, false)
	first := grow(t, rules, nil, newKey("a"), 2)
	dir := t.TempDir()
	d, r := openRun(t, dir, rules)
	if err := r.Save(move(0, "state", first...)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	d.Close()
	good := files(t, dir)
	base := rules.Run.String()
	refused := func(what, name string, data []byte) {
		t.Helper()
		dir := t.TempDir()
		writeFiles(t, dir, good)
		if data == nil {
			os.Remove(filepath.Join(dir, name))
		} else {
			writeFiles(t, dir, map[string][]byte{name: data})
		}
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		was := files(t, dir)
		if _, err := d.OpenRun(rules); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want %v", what, err, ErrCorrupt)
		}
		if is := files(t, dir); !bytes.Equal(is[name], was[name]) {
			t.Errorf("%s: the file was changed", what)
		}
	}
	for _, suffix := range []string{blocksSuffix, logSuffix} {
		data := good[base+suffix]
		for n := 0; n < len(data); n += 17 {
			flipped := slices.Clone(data)
			flipped[n] ^= 1 << (n % 8)
			refused("flipped bit in "+suffix, base+suffix, flipped)
		}
		refused("cut "+suffix, base+suffix, data[:len(data)-1])
	}
	refused("no state", base+stateSuffix, nil)
	refused("side file", base+blocksSuffix+SyncedSuffix, []byte("12\n"))
}

func TestDiskLocked(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir)
	if !errors.Is(err, ErrLocked) || !bytes.Contains([]byte(err.Error()), fmtPID()) {
		t.Errorf("got %v, want %v with the process id", err, ErrLocked)
	}
	key := d.Key()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err = Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Key().Equal(key) {
		t.Errorf("the identity changed")
	}
}

func TestDiskKey(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	path := filepath.Join(dir, keyName)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrKey) {
		t.Errorf("readable by others: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrKey) {
		t.Errorf("damaged: %v", err)
	}
}

func TestDiskPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(file, "data"), "/proc/evoswarm", file} {
		if _, err := Open(dir); err == nil {
			t.Errorf("%s was opened", dir)
		} else {
			t.Log(err)
		}
	}
	if _, err := Open(filepath.Join(file, "data")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want %v", err, ErrReadOnly)
	}
}

func TestDiskPeers(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := d.Peers(); len(got) != 0 {
		t.Errorf("a new folder knows %v", got)
	}
	if err := d.SavePeers([]string{"/ip4/1.2.3.4/tcp/1", "", "b", "b"}); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Peers(), []string{"/ip4/1.2.3.4/tcp/1", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	many := make([]string, 2*MaxPeers)
	for i := range many {
		many[i] = string(rune('a' + i))
	}
	if err := d.SavePeers(many); err != nil || len(d.Peers()) != MaxPeers {
		t.Errorf("kept %d, %v", len(d.Peers()), err)
	}
	one, other := seedlog.LinkOf([]byte("one")), seedlog.LinkOf([]byte("other"))
	if err := d.SaveRunPeers(one, []string{"c"}); err != nil || !slices.Equal(d.RunPeers(one), []string{"c"}) || len(d.RunPeers(other)) != 0 || len(d.Peers()) != MaxPeers {
		t.Errorf("of runs it knows %v and %v, %v", d.RunPeers(one), d.RunPeers(other), err)
	}
}

func TestRunFullDisk(t *testing.T) {
	rules := newRules(t, 4, false)
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := os.Symlink("/dev/full", filepath.Join(d.Dir(), rules.Run.String()+blocksSuffix)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.OpenRun(rules); !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want %v", err, ErrFull)
	}
}
