package coordinator

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// grown runs two honest peers and a faulty one until they have a chain, and a proof in the archive.
func grown(t *testing.T) *member {
	t.Helper()
	s := &swarm{rules: newRules(t, true), now: 1}
	for _, name := range []string{"n1", "n2", "n3"} {
		s.add(name, Config{Hub: true, Timing: LAN(), Slots: 2, Decisive: 2, Audit: 1024})
	}
	s.peers[2].faulty = true
	for _, m := range s.peers {
		if err := s.powerUp(m); err != nil {
			t.Fatal(err)
		}
	}
	s.run(60, func() bool { return false })
	m := s.peers[1]
	if m.coord.chain.head.height < 3 || len(m.coord.faults.proofs) == 0 {
		t.Fatalf("height %d with %d proofs: not what the tests need", m.coord.chain.head.height, len(m.coord.faults.proofs))
	}
	return m
}

// restored is what New makes of a disk.
func restored(m *member, disk *memory) (*Coordinator, error) {
	cfg := m.cfg
	cfg.Archive = disk
	cfg.State, cfg.Height = disk.state, uint64(len(m.disk.chain))
	return New(cfg)
}

// foldAll answers the folds that actions ask for, until there is none.
func foldAll(m *member, c *Coordinator, a Actions) {
	for a.Fold != nil {
		a = c.Step(c.now, foldNow(m.cfg.Rules, m.disk, a.Fold))
	}
}

func TestRestoreEqualsLive(t *testing.T) {
	m := grown(t)
	c, err := restored(m, m.disk)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot(); s.StateHeight != 0 || s.Behind != s.Height || !s.Syncing || s.Head != m.coord.chain.head.link {
		t.Errorf("before any fold: %+v", s)
	}
	foldAll(m, c, c.Step(1, Passed{}))
	got, want := c.Snapshot(), m.coord.Snapshot()
	if got.State.Digest() != want.State.Digest() || got.State.ThetaDigest() != want.State.ThetaDigest() {
		t.Error("the restored state has another digest")
	}
	// Who is there is not kept: it is heard again. The ledger begins with the process.
	want.State, want.Leader, want.Ready, want.Peers, want.Own = got.State, Peer{}, false, 0, Ledger{}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !slices.Equal(c.hard.Voted, m.coord.hard.Voted) {
		t.Errorf("got vote %x, want %x", c.hard.Voted, m.coord.hard.Voted)
	}
	if !maps.Equal(c.faults.peers, m.coord.faults.peers) || !maps.Equal(c.faults.falseClaims, m.coord.faults.falseClaims) || !maps.Equal(c.chain.credits, m.coord.chain.credits) {
		t.Errorf("got faulty peers %v, false claims %v, credits %v\nwant %v, %v, %v", c.faults.peers, c.faults.falseClaims, c.chain.credits, m.coord.faults.peers, m.coord.faults.falseClaims, m.coord.chain.credits)
	}
}

// TestRestoreMissesBlock: whatever block is gone, New says so and does not start on half a chain.
func TestRestoreMissesBlock(t *testing.T) {
	m := grown(t)
	if _, err := restored(m, m.disk); err != nil {
		t.Fatal(err)
	}
	needed := slices.Concat(m.disk.chain, m.disk.seals)
	for _, n := range m.coord.chain.canon {
		needed = append(needed, n.claims...)
	}
	for _, pair := range m.coord.hard.Proofs {
		needed = append(needed, pair[0], pair[1])
	}
	for _, link := range needed {
		disk := *m.disk
		disk.blocks = maps.Clone(disk.blocks)
		delete(disk.blocks, link)
		if _, err := restored(m, &disk); !errors.Is(err, ErrRestore) {
			t.Errorf("without block %s: got error %v, want %v", link, err, ErrRestore)
		}
	}
}

func TestRestoreRefusesGarbage(t *testing.T) {
	m := grown(t)
	for _, test := range []struct {
		name  string
		spoil func(*memory)
	}{
		{"hard state", func(d *memory) { d.state = []byte{1, 2, 3} }},
		{"order of the chain", func(d *memory) { d.chain[0], d.chain[1] = d.chain[1], d.chain[0] }},
		{"seal of another entry", func(d *memory) { d.seals[0], d.seals[1] = d.seals[1], d.seals[0] }},
		{"entry that is none", func(d *memory) { d.blocks[d.chain[0]] = []byte{0xa0} }},
		{"chain too short", func(d *memory) { d.chain, d.seals = d.chain[:1], d.seals[:1] }},
	} {
		t.Run(test.name, func(t *testing.T) {
			disk := &memory{blocks: maps.Clone(m.disk.blocks), state: m.disk.state, chain: slices.Clone(m.disk.chain), seals: slices.Clone(m.disk.seals)}
			test.spoil(disk)
			if _, err := restored(m, disk); !errors.Is(err, ErrRestore) {
				t.Errorf("got error %v, want %v", err, ErrRestore)
			}
		})
	}
}

// TestRestoreMarksFalseClaims: a false claim that the chain holds voids the entries above it after a restart as before.
func TestRestoreMarksFalseClaims(t *testing.T) {
	m := grown(t)
	n := m.coord.chain.canonAt(2)
	claim, err := m.cfg.Rules.KeptClaim(m.disk.blocks[n.claims[0]], n.claims[0])
	if err != nil {
		t.Fatal(err)
	}
	counter := m.cfg.Rules.First(claim.Value())
	fitness, steps := m.cfg.Rules.At(claim.Value(), counter)
	proof := m.cfg.Rules.OwnProof(claim, counter, fitness, steps+1, m.key)
	disk := *m.disk
	disk.blocks = maps.Clone(disk.blocks)
	disk.blocks[proof.Link()] = proof.Bytes()
	hard := m.coord.hard
	hard.Proofs = append(slices.Clone(hard.Proofs), [2]seedlog.Link{claim.Link(), proof.Link()})
	disk.state = seedlog.Encode(&hard)
	c, err := restored(m, &disk)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.chain.canonAt(2); !r.fraud || r.falseAt != 2 || c.chain.canonAt(3).falseAt < 2 {
		t.Errorf("the entry of height 2 is not marked: fraud %t, false at %d, above it %d", r.fraud, r.falseAt, c.chain.canonAt(3).falseAt)
	}
}
