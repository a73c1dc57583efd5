package seedlog

import (
	"fmt"
	"slices"
)

// Batch is a block that names claims of an entry, in runs whose spec has a size for it: a stretch of them, in the
// entry's order. An entry that names batches is as short with thousands of claims as with one, and who follows states
// alone needs nothing else of it.
type Batch struct {
	_            struct{}      `cbor:",toarray"`
	Claims       []Link        // as many as the spec says, in the last batch of an entry the rest
	Attestations []Attestation // in the order of the claims, whose places are those in the batch
}

// Limits of batches.
const (
	MaxBatch   = 256 // claims in a batch
	MaxBatches = 64  // batches of an entry
)

// Encode returns the batch's block and its link.
func (b *Batch) Encode() ([]byte, Link) {
	data := Encode(b)
	return data, LinkOf(data)
}

// DecodeBatch reads a batch block. It checks the form; [Rules.Join] checks the rest.
func DecodeBatch(data []byte) (*Batch, error) {
	b := new(Batch)
	if err := decode(data, MaxBatchBytes, b); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if n := len(b.Claims); n < 1 || n > MaxBatch {
		return nil, fmt.Errorf("batch: %w: %d claims, allowed 1 to %d", ErrTooLarge, n, MaxBatch)
	}
	if err := checkAttestations(b.Attestations, len(b.Claims), MaxBatch); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	return b, nil
}

// MostClaims is how many claims an entry of the run may name.
func (r *Rules) MostClaims() uint64 {
	if batch := r.Spec.Generation.Batch; batch > 0 {
		return MaxBatches * batch
	}
	return MaxClaims
}

// MostAttestations is how many attestations an entry of the run may have.
func (r *Rules) MostAttestations() uint64 {
	if r.Spec.Generation.Batch > 0 {
		return r.MostClaims()
	}
	return MaxAttestations
}

// cut makes the batches of an entry whose claims and attestations are known.
func (e *Entry) cut() []*Batch {
	batches := make([]*Batch, 0, (uint64(len(e.Claims))+e.batch-1)/e.batch)
	attestations := e.Attestations
	for first := range slices.Chunk(e.Claims, int(e.batch)) {
		b := &Batch{Claims: first, Attestations: []Attestation{}}
		for below := uint64(len(batches)) * e.batch; len(attestations) > 0 && attestations[0].Claim < below+e.batch; attestations = attestations[1:] {
			a := attestations[0]
			a.Claim -= below
			b.Attestations = append(b.Attestations, a)
		}
		batches = append(batches, b)
	}
	return batches
}

// batchBlocks are the blocks of the batches that cut makes.
func (e *Entry) batchBlocks() (blocks []RawBlock, links []Link) {
	for _, b := range e.cut() {
		block := NewRawBlock(Encode(b))
		blocks, links = append(blocks, block), append(links, block.link)
	}
	return blocks, links
}

// Blocks are the blocks of the batches of an entry that was made here, in its order; none where the run has none.
func (e *Entry) Blocks() []RawBlock {
	if e.batch == 0 {
		return nil
	}
	blocks, _ := e.batchBlocks()
	return blocks
}

// NamesClaims is how many claims the entry names, by themselves or in batches.
func (e *Entry) NamesClaims() uint64 {
	if len(e.Batches) > 0 {
		return e.Count
	}
	return uint64(len(e.Claims))
}

// Named lists the blocks that an entry with its batches names, in a log's order: the batches, and the claims.
func (e *Entry) Named() []Link { return slices.Concat(e.Batches, e.Claims) }

// take fills in what the batches of an entry name. They are those that it names, in its order.
func (e *Entry) take(batches []Block[Batch]) {
	e.Claims, e.Attestations = make([]Link, 0, min(e.Count, MaxBatches*MaxBatch)), nil
	for _, b := range batches {
		below := uint64(len(e.Claims))
		e.Claims = append(e.Claims, b.value.Claims...)
		for _, a := range b.value.Attestations {
			a.Claim += below
			e.Attestations = append(e.Attestations, a)
		}
	}
}

// checkNames checks what an entry says that it names: claims, or where the spec says so batches.
func (r *Rules) checkNames(e *Entry) error {
	batch, named := r.Spec.Generation.Batch, uint64(len(e.Batches))
	switch {
	case batch == 0 && named == 0:
		return nil
	case batch == 0:
		return fmt.Errorf("%w: an entry that names batches, in a run without", ErrMalformed)
	case named == 0:
		return fmt.Errorf("%w: an entry that names claims, in a run whose entries name batches", ErrMalformed)
	case e.Count == 0 || e.Count > batch*MaxBatches:
		return fmt.Errorf("%w: an entry with %d claims, at most %d", ErrTooLarge, e.Count, batch*MaxBatches)
	case named != (e.Count+batch-1)/batch:
		return fmt.Errorf("%w: %d batches of %d for %d claims", ErrCount, named, batch, e.Count)
	}
	return nil
}

// openBatches reads the batches of an entry that passed checkNames: they are those that it names, in its order, all of
// them full but the last, and no claim is in them twice.
func (r *Rules) openBatches(e *Entry, raw []RawBlock) ([]Block[Batch], error) {
	if len(raw) < len(e.Batches) {
		return nil, fmt.Errorf("%w: batch %s", ErrMissing, e.Batches[len(raw)])
	}
	batches := make([]Block[Batch], len(e.Batches))
	left, seen := e.Count, make(map[Link]bool, min(e.Count, MaxBatches*MaxBatch))
	for i, link := range e.Batches {
		if raw[i].link != link {
			return nil, fmt.Errorf("%w: batch %s in place of %s", ErrLink, raw[i].link, link)
		}
		b, err := open(raw[i], DecodeBatch)
		if err != nil {
			return nil, err
		}
		if n, want := uint64(len(b.value.Claims)), min(left, r.Spec.Generation.Batch); n != want {
			return nil, fmt.Errorf("%w: %d claims in batch %d of %d, want %d", ErrCount, n, i+1, len(e.Batches), want)
		}
		for _, claim := range b.value.Claims {
			if seen[claim] {
				return nil, fmt.Errorf("%w: batch %s names claim %s a second time", ErrOrder, link, claim)
			}
			seen[claim] = true
		}
		batches[i], left = b, left-uint64(len(b.value.Claims))
	}
	return batches, nil
}

// Join adds to an entry that was checked the batches that it names, and verifies these: form, links, order, and the
// signatures of attestations. In a run without batches there are none to add.
func (r *Rules) Join(entry CheckedEntry, batches [][]byte) (CheckedEntry, error) {
	if len(entry.value.Batches) == 0 || entry.Joined() {
		return entry, nil
	}
	raw := make([]RawBlock, len(batches))
	for i, data := range batches {
		raw[i] = NewRawBlock(data)
	}
	joined, err := r.join(entry, raw)
	if err != nil {
		return CheckedEntry{}, err
	}
	return joined, r.checkAttested(joined.value)
}

func (r *Rules) join(entry CheckedEntry, raw []RawBlock) (CheckedEntry, error) {
	batches, err := r.openBatches(entry.value, raw)
	if err != nil {
		return CheckedEntry{}, err
	}
	e := *entry.value
	e.take(batches)
	return CheckedEntry{Block[Entry]{entry.RawBlock, &e}, entry.seal, raw[:len(batches)]}, nil
}

// KeptNamed reads what an entry names that this computer checked before it was stored: its batches, which come with the
// entry then, and its claims. block looks up what was stored.
func (r *Rules) KeptNamed(entry CheckedEntry, block func(Link) ([]byte, bool)) (CheckedEntry, []CheckedClaim, error) {
	if len(entry.value.Batches) > 0 && !entry.Joined() {
		raw := make([]RawBlock, len(entry.value.Batches))
		for i, link := range entry.value.Batches {
			data, ok := block(link)
			if !ok {
				return CheckedEntry{}, nil, fmt.Errorf("%w: batch %s", ErrMissing, link)
			}
			raw[i] = NewRawBlock(data)
		}
		var err error
		if entry, err = r.join(entry, raw); err != nil {
			return CheckedEntry{}, nil, err
		}
	}
	claims, err := r.KeptClaims(entry.value.Claims, block)
	return entry, claims, err
}

// ReadEntry is [DecodeEntry] for an entry that was checked before it was stored: it fills in what its batches name.
// block looks up what was stored.
func ReadEntry(data []byte, block func(Link) ([]byte, bool)) (*Entry, error) {
	e, err := DecodeEntry(data)
	if err != nil || len(e.Batches) == 0 {
		return e, err
	}
	batches := make([]Block[Batch], len(e.Batches))
	for i, link := range e.Batches {
		data, ok := block(link)
		if !ok {
			return nil, fmt.Errorf("%w: batch %s", ErrMissing, link)
		}
		if batches[i], err = kept(data, link, DecodeBatch); err != nil {
			return nil, err
		}
	}
	e.take(batches)
	return e, nil
}
