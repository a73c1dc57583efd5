package seedlog

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// batchSpec is nextSpec with entries that name batches of two claims.
func batchSpec(t testing.TB) *Spec {
	spec := nextSpec(t)
	spec.Generation.Batch = 2
	return spec
}

// batchedEntry is an entry of five claims, so of three batches, the second of which has an attestation.
func batchedEntry(t testing.TB, r *staleRun) (CheckedEntry, []CheckedClaim) {
	t.Helper()
	var claims []*Claim
	for _, key := range r.keys {
		claims = append(claims, r.claim(key, 0, 0), r.claim(key, 0, 1))
	}
	claims = claims[:5]
	entry, _ := r.rules.NewEntry(r.states[0], r.parent(), 1, PeerOf(r.keys[0]), claims)
	attester := newKey("attester")
	entry.Attestations = []Attestation{{Claim: 2, Peer: PeerOf(attester), Signature: Attest(r.rules.Run, entry.Claims[2], attester)}}
	checked := make([]CheckedClaim, len(claims))
	for i, c := range claims {
		checked[i] = r.rules.OwnClaim(c)
	}
	return r.rules.OwnEntry(entry, r.keys[0], nil), checked
}

// batchedLog is a log of three generations of such a run.
func batchedLog(t testing.TB) (*staleRun, []byte) {
	t.Helper()
	r := newStaleRun(t, batchSpec(t))
	log := r.rules.AppendBeginning(nil)
	e, claims := batchedEntry(t, r)
	for height := range 3 {
		if height > 0 {
			e, claims, _ = r.entry(r.claimOf(r.keys[0], height, 0, 2), r.claim(r.keys[1], height-1, 2*uint64(height%2)))
		}
		log = appendBlocks(log, e.Batches(), claims, e)
		values := make([]*Claim, len(claims))
		for i, c := range claims {
			values[i] = c.Value()
		}
		next := r.rules.Apply(r.states[height], r.links[height], values)
		r.all = append(r.all, made{e.Value(), e.Seal().Value(), values, r.states[height]})
		r.states, r.links = append(r.states, next), append(r.links, e.Link())
		r.window.Add(e.Link(), e.Value().Height, values)
	}
	return r, log
}

func appendBlocks(log []byte, batches []RawBlock, claims []CheckedClaim, e CheckedEntry) []byte {
	for _, b := range batches {
		log = AppendLinked(log, b.link, b.data)
	}
	for _, c := range claims {
		log = AppendLinked(log, c.link, c.data)
	}
	log = AppendLinked(log, e.link, e.data)
	return AppendLinked(log, e.seal.link, e.seal.data)
}

const batchedFile = "testdata/batched.seedlog"

// TestBatchedLog: a log whose entries name batches is the one that was recorded (-update records it), replays with all
// checks, and is written again as it was read.
func TestBatchedLog(t *testing.T) {
	r, want := batchedLog(t)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(batchedFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(batchedFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s is not what is written today", batchedFile)
	}
	again, claims, attested := r.rules.AppendBeginning(nil), 0, 0
	got, err := Replay(bytes.NewReader(data), ReplayOptions{Check: CheckClaims, Visit: func(g *Record, _ Replayed) error {
		again = AppendRecord(again, g)
		claims, attested = claims+len(g.Entry.Claims), attested+len(g.Entry.Attestations)
		if g.Entry.NamesClaims() != uint64(len(g.Claims)) || len(g.Batches) != len(g.Entry.Batches) || !slices.Equal(g.Entry.Named()[len(g.Batches):], g.Entry.Claims) {
			t.Errorf("height %d names %d claims in %d batches, has %d in %d", g.Entry.Height, g.Entry.NamesClaims(), len(g.Entry.Batches), len(g.Claims), len(g.Batches))
		}
		return nil
	}})
	if err != nil || got.Height != 3 || got.Link != r.links[3] || claims != 9 || attested != 1 {
		t.Fatalf("replayed to %+v with %d claims and %d attestations: %v", got, claims, attested, err)
	}
	if !bytes.Equal(again, data) {
		t.Error("what was read is written otherwise")
	}
}

// TestBatchesAreRead: the readers of what was stored give an entry with what its batches name.
func TestBatchesAreRead(t *testing.T) {
	r := newStaleRun(t, batchSpec(t))
	e, claims := batchedEntry(t, r)
	stored := map[Link][]byte{}
	for _, b := range e.Batches() {
		stored[b.link] = b.data
	}
	for _, c := range claims {
		stored[c.link] = c.data
	}
	find := func(l Link) ([]byte, bool) { data, ok := stored[l]; return data, ok }
	alone, err := r.rules.CheckEntry(e.data, e.seal.data)
	if err != nil || alone.Joined() || alone.Value().NamesClaims() != 5 || len(alone.Value().Claims) > 0 {
		t.Fatalf("alone it is %+v, %v", alone.Value(), err)
	}
	if err := r.rules.CheckPlace(alone, r.parent(), nil); !errors.Is(err, ErrMissing) {
		t.Errorf("without its batches it has a place: %v", err)
	}
	joined, kept, err := r.rules.KeptNamed(alone, find)
	if err != nil || len(kept) != 5 || !slices.Equal(joined.Value().Claims, e.Value().Claims) || joined.Link() != e.Link() {
		t.Fatalf("with its batches it is %+v, %v", joined.Value(), err)
	}
	if err := r.rules.CheckPlace(joined, r.parent(), claims); err != nil {
		t.Error(err)
	}
	read, err := ReadEntry(e.data, find)
	if err != nil || !slices.Equal(read.Claims, e.Value().Claims) || len(read.Attestations) != 1 || read.Attestations[0].Claim != 2 || !bytes.Equal(Encode(read), e.data) {
		t.Errorf("read as %+v, %v", read, err)
	}
	delete(stored, e.Batches()[1].link)
	if _, err := ReadEntry(e.data, find); !errors.Is(err, ErrMissing) {
		t.Errorf("without a batch: %v", err)
	}
	if _, _, err := r.rules.KeptNamed(alone, find); !errors.Is(err, ErrMissing) {
		t.Errorf("without a batch: %v", err)
	}
}

// TestBadBatches: whatever batches an entry names or comes with, the wrong ones are refused by name, in a log and from
// other peers alike.
func TestBadBatches(t *testing.T) {
	r := newStaleRun(t, batchSpec(t))
	good, claims := batchedEntry(t, r)
	links := good.Value().Claims
	stranger := newKey("stranger")
	batch := func(attestations []Attestation, claims ...Link) RawBlock {
		if attestations == nil {
			attestations = []Attestation{}
		}
		return NewRawBlock(Encode(&Batch{Claims: claims, Attestations: attestations}))
	}
	many := make([]Link, MaxBatch+1)
	for i := range many {
		many[i] = LinkOf([]byte{byte(i), byte(i >> 8)})
	}
	g := good.Batches()
	for _, test := range []struct {
		name  string
		names []RawBlock // that the entry names
		comes []RawBlock // that come with it; nil: those
		count uint64     // 0: five
		want  error
	}{
		{"good", g, nil, 0, nil},
		{"one missing", g, g[:2], 0, ErrMissing},
		{"none there", g, []RawBlock{}, 0, ErrMissing},
		{"out of order", g, []RawBlock{g[1], g[0], g[2]}, 0, ErrLink},
		{"one of another entry", g, []RawBlock{g[0], batch(nil, many[:2]...), g[2]}, 0, ErrLink},
		{"not full", []RawBlock{batch(nil, links[0]), batch(nil, links[1:3]...), batch(nil, links[3:5]...)}, nil, 0, ErrCount},
		{"too long for the run", []RawBlock{batch(nil, links[:3]...), batch(nil, links[3:5]...), batch(nil, links[:1]...)}, nil, 0, ErrCount},
		{"longer than any", []RawBlock{batch(nil, many...), g[1], g[2]}, nil, 0, ErrTooLarge},
		{"empty", []RawBlock{g[0], g[1], batch(nil)}, nil, 0, ErrTooLarge},
		{"a claim twice", []RawBlock{g[0], batch(nil, links[1], links[2]), g[2]}, nil, 0, ErrOrder},
		{"a batch twice", []RawBlock{g[0], g[0], g[2]}, nil, 0, ErrOrder},
		{"a claim in place of a batch", []RawBlock{g[0], claims[0].RawBlock, g[2]}, nil, 0, ErrMalformed},
		{"more claims than batches hold", g, nil, 7, ErrCount},
		{"fewer claims than batches hold", g, nil, 4, ErrCount},
		{"no claims", g, nil, 1 << 63, ErrTooLarge},
		{"more batches than an entry may name", slices.Repeat(g, MaxBatches), nil, 0, ErrTooLarge},
		{"an attestation of what is not in it", []RawBlock{g[0], batch([]Attestation{{Claim: 2, Peer: PeerOf(stranger), Signature: []byte{}}}, links[2:4]...), g[2]}, nil, 0, ErrMalformed},
		{"an attestation that nobody signed", []RawBlock{g[0], batch([]Attestation{{Claim: 1, Peer: PeerOf(stranger), Signature: make([]byte, 64)}}, links[2:4]...), g[2]}, nil, 0, ErrSignature},
		{"an attestation for another run", []RawBlock{g[0], batch([]Attestation{{Claim: 1, Peer: PeerOf(stranger), Signature: Attest(links[0], links[3], stranger)}}, links[2:4]...), g[2]}, nil, 0, ErrSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := *good.Value()
			e.Claims, e.Attestations, e.Batches, e.Count = nil, nil, nil, 5
			for _, b := range test.names {
				e.Batches = append(e.Batches, b.link)
			}
			if test.count > 0 {
				e.Count = test.count
			}
			comes := test.names
			if test.comes != nil {
				comes = test.comes
			}
			data := Encode(&e)
			seal := Encode(NewSeal(&e, r.keys[0], nil))
			entry, err := r.rules.CheckEntry(data, seal)
			if err == nil {
				var given [][]byte
				for _, b := range comes {
					given = append(given, b.data)
				}
				_, err = r.rules.Join(entry, given)
			}
			if !errors.Is(err, test.want) {
				t.Errorf("from a peer: got %v, want %v", err, test.want)
			}
			log := appendBlocks(r.rules.AppendBeginning(nil), comes, claims, CheckedEntry{Block: Block[Entry]{RawBlock: NewRawBlock(data)}, seal: Block[Seal]{RawBlock: NewRawBlock(seal)}})
			if _, err := Replay(bytes.NewReader(log), ReplayOptions{Check: CheckLinks}); !errors.Is(err, test.want) && (test.want != ErrMalformed || !errors.Is(err, ErrOrder)) {
				t.Errorf("in a log: got %v, want %v", err, test.want)
			}
		})
	}
}

// TestBatchesOfTheRun: entries name batches where the spec says so, and nowhere else, and a batch comes in front of
// claims.
func TestBatchesOfTheRun(t *testing.T) {
	r, plain := newStaleRun(t, batchSpec(t)), newStaleRun(t, nextSpec(t))
	batched, claims := batchedEntry(t, r)
	e := *batched.Value()
	e.Batches, e.Count = nil, 0
	if _, err := r.rules.CheckEntry(Encode(&e), Encode(NewSeal(&e, r.keys[0], nil))); !errors.Is(err, ErrMalformed) {
		t.Errorf("an entry that names claims, in a run with batches: %v", err)
	}
	e = *batched.Value()
	e.Run, e.Claims = plain.rules.Run, nil
	if _, err := plain.rules.CheckEntry(Encode(&e), Encode(NewSeal(&e, r.keys[0], nil))); !errors.Is(err, ErrMalformed) {
		t.Errorf("an entry that names batches, in a run without: %v", err)
	}
	if _, err := DecodeEntry(append(Encode(batched.Value()), 0)); !errors.Is(err, ErrMalformed) {
		t.Errorf("an entry with something behind it: %v", err)
	}
	log := r.rules.AppendBeginning(nil)
	log = AppendLinked(log, claims[0].link, claims[0].data)
	log = appendBlocks(log, batched.Batches(), claims[1:], batched)
	if _, err := Replay(bytes.NewReader(log), ReplayOptions{}); !errors.Is(err, ErrOrder) {
		t.Errorf("a batch behind a claim: %v", err)
	}
	for _, test := range []struct {
		name string
		edit func(s *Spec)
	}{
		{"more than a batch may name", func(s *Spec) { s.Generation.Batch = MaxBatch + 1 }},
		{"in format 1", func(s *Spec) { *s = *newSpec(t, "dises"); s.Nonce, s.Generation.Batch = bytes.Repeat([]byte{1}, 16), 1 }},
		{"in a run on one machine", func(s *Spec) { s.Nonce = make([]byte, 16) }},
	} {
		spec := batchSpec(t)
		test.edit(spec)
		if _, err := NewRules(spec); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "batch") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if r.rules.MostClaims() != 2*MaxBatches || plain.rules.MostClaims() != MaxClaims || r.rules.MostAttestations() != 2*MaxBatches {
		t.Errorf("entries name %d claims, and %d without batches", r.rules.MostClaims(), plain.rules.MostClaims())
	}
}

// TestBatchedEntrySize: an entry of as many claims as it may name, and its batches with as many attestations as they
// may have, are within the limits of their blocks.
func TestBatchedEntrySize(t *testing.T) {
	spec := batchSpec(t)
	spec.Generation.Batch = MaxBatch
	r := newStaleRun(t, spec)
	e, _ := r.rules.NewEntry(r.states[0], r.parent(), 1, PeerOf(r.keys[0]), []*Claim{r.claim(r.keys[0], 0, 0)})
	e.Claims = slices.Repeat(e.Claims, MaxBatches*MaxBatch)
	for i := range e.Claims {
		e.Attestations = append(e.Attestations, Attestation{Claim: uint64(i), Peer: PeerOf(r.keys[0]), Signature: make([]byte, 64)})
	}
	data, _ := e.Encode()
	if len(data) > 3400 {
		t.Errorf("an entry of %d claims takes %d bytes", len(e.Claims), len(data))
	}
	if _, err := DecodeEntry(data); err != nil {
		t.Error(err)
	}
	if blocks := e.Blocks(); len(blocks) != MaxBatches {
		t.Errorf("%d batches", len(blocks))
	} else if b, err := DecodeBatch(blocks[0].data); err != nil || len(b.Attestations) != MaxBatch {
		t.Errorf("%d bytes: %v", len(blocks[0].data), err)
	}
}

// TestSpecShowsBatch: the specification shows the bytes of a batch, and of what an entry has in place of claims. With
// -update it is rewritten.
func TestSpecShowsBatch(t *testing.T) {
	r := newStaleRun(t, batchSpec(t))
	e, _ := batchedEntry(t, r)
	b := &dump{data: e.Batches()[1].data}
	b.out.WriteString("batch " + e.Batches()[1].link.String() + "\n")
	b.item(t, 0, "")
	d := &dump{data: e.data}
	d.out.WriteString("\nentry " + e.link.String() + "\n")
	d.item(t, 0, "")
	text, err := os.ReadFile(specDoc)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin batch -->\n", "<!-- end batch -->\n"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the batch", specDoc)
	}
	want := head + begin + "```\n" + b.out.String() + d.out.String() + "```\n" + end + tail
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(specDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s does not show the bytes of a batch (run with -update)", specDoc)
	}
}

func FuzzDecodeBatch(f *testing.F) {
	r := newStaleRun(f, batchSpec(f))
	e, _ := batchedEntry(f, r)
	for _, b := range e.Batches() {
		f.Add(b.data)
	}
	fuzzDecoder(f, DecodeBatch)
}
