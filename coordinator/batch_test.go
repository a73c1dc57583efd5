package coordinator

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestWrongBatches: a hub that answers with another batch than an entry names, with a claim in its place, with none, or
// with one more is cut off by who asked, and the swarm continues.
func TestWrongBatches(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(e *seedlog.Entry, blocks [][]byte) [][]byte
	}{
		{"another one", func(e *seedlog.Entry, blocks [][]byte) [][]byte {
			other := &seedlog.Batch{Claims: slices.Repeat([]seedlog.Link{seedlog.LinkOf(blocks[0])}, 1), Attestations: []seedlog.Attestation{}}
			data, _ := other.Encode()
			return append([][]byte{data}, blocks[1:]...)
		}},
		{"a claim in its place", func(e *seedlog.Entry, blocks [][]byte) [][]byte {
			return append([][]byte{blocks[len(blocks)-1]}, blocks[1:]...)
		}},
		{"none", func(e *seedlog.Entry, blocks [][]byte) [][]byte { return blocks[len(e.Batches):] }},
		{"nothing at all", func(*seedlog.Entry, [][]byte) [][]byte { return [][]byte{} }},
		{"one twice", func(_ *seedlog.Entry, blocks [][]byte) [][]byte { return append([][]byte{blocks[0]}, blocks...) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newNextField(t, 4, 4, 0)
			f.pass(100)
			faulty := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != f.leader() })]
			var by []*member
			f.notes = func(m *member, n Note) {
				switch {
				case n.Kind != NoteBan:
				case n.Peer == faulty.peer:
					by = append(by, m)
				default:
					t.Errorf("%s cuts off %s: %s", m.name, n.Peer.Short(), n.Text)
				}
			}
			f.swap = func(from, to *member, m Message) Message {
				edited := func(entry []byte, blocks [][]byte) ([][]byte, int) {
					e, err := seedlog.DecodeEntry(entry)
					if err != nil || len(e.Batches) == 0 {
						t.Fatalf("an entry without batches: %v", err)
					}
					return test.edit(e, blocks), len(e.Batches)
				}
				if p, ok := m.(*Push); ok && from == faulty && p.First == 0 {
					bad := *p
					blocks, batches := edited(p.Entry, slices.Concat(p.Batches, p.Claims))
					batches = min(batches, len(blocks))
					bad.Batches, bad.Claims = blocks[:batches], blocks[batches:]
					return &bad
				}
				s, ok := m.(*Segment)
				if !ok || from != faulty || len(s.Generations) == 0 {
					return m
				}
				bad := *s
				bad.Generations = slices.Clone(s.Generations)
				for i, g := range bad.Generations {
					bad.Generations[i].Claims, _ = edited(g.Entry, g.Claims)
				}
				return &bad
			}
			low := f.low()
			f.pass(300)
			if len(by) == 0 {
				t.Error("nobody cut it off")
			}
			if f.low() < low+20 {
				t.Errorf("from height %d to %d", low, f.low())
			}
		})
	}
}

// TestJunkBatches: 64 batches of links of what nobody has cost who gets them a hash of each, and their author its
// connection: no claim is asked for. Announced by a key without work they are not even asked for.
func TestJunkBatches(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(100)
	spec := *f.rules.Spec
	spec.Generation.Batch = seedlog.MaxBatch
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	key := f.strangerKey(1)
	e := rules.EntryOf(seedlog.Parent{Link: rules.Run}, 1, seedlog.PeerOf(key), nil, [32]byte{}, [32]byte{})
	for i := range seedlog.MaxBatches * seedlog.MaxBatch {
		e.Claims = append(e.Claims, seedlog.LinkOf([]byte{byte(i), byte(i >> 8)}))
	}
	entry := rules.OwnEntry(e, key, nil)
	g := Generation{Entry: entry.Bytes(), Seal: entry.Seal().Bytes(), Claims: blocksOf(e, nil)}
	data := EncodeMessage(&Segment{Generations: []Generation{g}, Proofs: []FraudProof{}})
	if len(data) > MaxDirectBytes || len(data) < MaxDirectBytes/2 {
		t.Errorf("it takes %d bytes", len(data))
	}
	begun := time.Now()
	checked, err := Check(seedlog.NewChecker(rules), &Segment{Generations: []Generation{g}}, nil)
	if took := time.Since(begun); err != nil || checked.generations[0].whole() || took > 2*time.Second {
		t.Errorf("checked in %v: whole %v, %v", took, err == nil && checked.generations[0].whole(), err)
	}
	if err := rules.CheckPlace(checked.generations[0].entry, seedlog.Parent{Link: rules.Run}, nil); !errors.Is(err, seedlog.ErrCount) {
		t.Errorf("without its claims it has a place: %v", err)
	}

	// The same in the run: nobody asks for what a key without work announces.
	head := f.peers[0].coord.chain.head
	small := f.rules.EntryOf(head.parentInfo(), head.term+1, seedlog.PeerOf(key), nil, [32]byte{}, [32]byte{})
	small.Claims = e.Claims[:seedlog.MaxBatches*3]
	junk := f.rules.OwnEntry(small, key, nil)
	pulls := 0
	f.spy = func(from *member, e Envelope) {
		if _, ok := e.Message.(*Pull); ok && e.To == seedlog.PeerOf(key) {
			pulls++
		}
	}
	f.say(key, &Announce{Entry: junk.Bytes(), Seal: junk.Seal().Bytes()})
	f.say(key, &Segment{Generations: []Generation{{Entry: junk.Bytes(), Seal: junk.Seal().Bytes(), Claims: blocksOf(small, nil)}}, Proofs: []FraudProof{}})
	low := f.low()
	f.pass(100)
	if pulls > 0 || f.low() < low+10 {
		t.Errorf("%d questions for it; from height %d to %d", pulls, low, f.low())
	}
	for _, m := range f.peers {
		if m.coord.chain.nodes[junk.Link()] != nil {
			t.Errorf("%s has it in its tree", m.name)
		}
	}
}

// TestBatchesNobodyHas: a leader that announces entries and gives nobody their batches is given up, and the others
// log on.
func TestBatchesNobodyHas(t *testing.T) {
	f := newNextField(t, 4, 5, 0)
	f.pass(100)
	faulty := f.leader()
	f.swap = func(from, to *member, m Message) Message {
		if s, ok := m.(*Segment); ok && from == faulty && len(s.Generations) > 0 {
			return nil
		}
		if _, ok := m.(*Push); ok && from == faulty {
			return nil
		}
		return m
	}
	low := func() uint64 {
		height := ^uint64(0)
		for _, m := range f.peers {
			if m != faulty {
				height = min(height, m.coord.chain.head.height)
			}
		}
		return height
	}
	before := low()
	f.await(400, "another leads", func() bool { return low() > before+20 })
	if head := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != faulty })].coord.chain.head; head.leader == faulty.peer {
		t.Error("it still leads")
	}
}

// TestArchivedBatches: a hub gives what it has no longer in memory with its batches, which those who ask need.
func TestArchivedBatches(t *testing.T) {
	f := newNextField(t, 4, 3, 0)
	f.until(12)
	m := f.peers[0]
	m.coord.serving.recent = recentGenerations{}
	for height := uint64(1); height <= 8; height++ {
		g, claims, link, ok := m.coord.openGeneration(height)
		whole, ok2 := m.coord.chain.generation(height)
		n := m.coord.chain.canonAt(height)
		if !ok || !ok2 || link != n.link || len(n.batches) == 0 || len(g.Claims) != len(n.batches) || len(whole.Claims) != len(n.batches)+len(n.claims) || !slices.Equal(claims, n.claims) {
			t.Fatalf("height %d of %d batches and %d claims: %d blocks and %d links, %v; as a whole %d blocks, %v", height, len(n.batches), len(n.claims), len(g.Claims), len(claims), ok, len(whole.Claims), ok2)
		}
		if checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: []Generation{whole}}, nil); err != nil || !checked.generations[0].whole() {
			t.Errorf("height %d: %v", height, err)
		}
	}
}
