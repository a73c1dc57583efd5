package seedlog

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
)

// Entry is one generation: the claims that the update was computed from, and digests of the result. Its link
// is that of this unsigned body.
type Entry struct {
	Run         Link   `cbor:"run"`
	Height      uint64 `cbor:"height"` // genesis is 0, the first entry 1
	Parent      Link   `cbor:"parent"` // entry of height-1, or the genesis
	Term        uint64 `cbor:"term"`   // the leader's tenure; never falls along a chain
	Leader      Peer   `cbor:"leader"`
	Claims      []Link `cbor:"claims"` // in the order of (peer, height of their parent, chunk); where it names batches, nil until these are read
	Evaluations uint64 `cbor:"evaluations"`
	Steps       uint64 `cbor:"steps"`
	Theta       []byte `cbor:"theta"` // digest of the parameters after the update, 32 bytes
	State       []byte `cbor:"state"` // digest of the strategy's state after the update, 32 bytes

	Attestations []Attestation `cbor:"attestations,omitempty"` // in the order of the claims; none in format 1

	// Solved is the height of a state that passed the test, so that this entry ends the run; 0: none.
	Solved uint64 `cbor:"solved,omitempty"`

	// Duration is how long the next generation lasts at least, in milliseconds; 0: as long as the spec says.
	Duration uint64 `cbor:"duration,omitempty"`

	// Batches name the claims and have the attestations, in runs whose spec has a size for them, and Count is how many
	// claims they name. The block then has neither claims nor attestations.
	Batches []Link `cbor:"batches,omitempty"`
	Count   uint64 `cbor:"count,omitempty"`

	batch uint64 // claims of a batch, of an entry that was made here; 0: none, or its batches are named already
}

// MarshalCBOR implements the encoding of both forms of an entry.
func (e Entry) MarshalCBOR() ([]byte, error) {
	if e.batch > 0 {
		_, e.Batches = e.batchBlocks()
		e.Count = uint64(len(e.Claims))
	}
	if len(e.Batches) == 0 {
		type named Entry
		return encMode.Marshal((*named)(&e))
	}
	return encMode.Marshal(&batched{e.Run, e.Height, e.Parent, e.Term, e.Leader, e.Evaluations, e.Steps, e.Theta, e.State, e.Solved, e.Duration, e.Batches, e.Count})
}

// batched is the block of an entry that names batches.
type batched struct {
	Run         Link   `cbor:"run"`
	Height      uint64 `cbor:"height"`
	Parent      Link   `cbor:"parent"`
	Term        uint64 `cbor:"term"`
	Leader      Peer   `cbor:"leader"`
	Evaluations uint64 `cbor:"evaluations"`
	Steps       uint64 `cbor:"steps"`
	Theta       []byte `cbor:"theta"`
	State       []byte `cbor:"state"`
	Solved      uint64 `cbor:"solved,omitempty"`
	Duration    uint64 `cbor:"duration,omitempty"`
	Batches     []Link `cbor:"batches"`
	Count       uint64 `cbor:"count"`
}

// Encode returns the entry's block and its link.
func (e *Entry) Encode() ([]byte, Link) {
	data := Encode(e)
	return data, LinkOf(data)
}

// DecodeEntry reads an entry block. It checks the form; [Rules.CheckEntry] and [Rules.CheckPlace] check the rest.
func DecodeEntry(data []byte) (*Entry, error) {
	e := new(Entry)
	if err := decode(data, MaxEntryBytes, e); err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	if len(e.Theta) != 32 || len(e.State) != 32 {
		return nil, fmt.Errorf("entry: %w: a digest has 32 bytes", ErrMalformed)
	}
	if n := len(e.Batches); n > MaxBatches {
		return nil, fmt.Errorf("entry: %w: %d batches, at most %d", ErrTooLarge, n, MaxBatches)
	}
	if err := checkAttestations(e.Attestations, len(e.Claims), MaxAttestations); err != nil {
		return nil, fmt.Errorf("entry: %w", err)
	}
	return e, nil
}

// Seal makes an entry valid: the leader's signature, and on the first entry of a term the votes that made the leader.
type Seal struct {
	_         struct{} `cbor:",toarray"`
	Entry     Link
	Signature []byte // of the leader that the entry names
	Votes     []Vote // in the order of the voters' keys
}

// Vote is one peer's grant of a term to a candidate. It covers the run, the term and the candidate, which the
// entry names.
type Vote struct {
	_         struct{} `cbor:",toarray"`
	Voter     Peer
	Signature []byte
}

// MaxVotes bounds the votes of one seal.
const MaxVotes = 64

// NewSeal signs entry e with key, which must be that of e.Leader.
func NewSeal(e *Entry, key ed25519.PrivateKey, votes []Vote) *Seal {
	_, link := e.Encode()
	return newSeal(link, key, votes)
}

func newSeal(link Link, key ed25519.PrivateKey, votes []Vote) *Seal {
	if votes == nil {
		votes = []Vote{}
	}
	return &Seal{Entry: link, Signature: ed25519.Sign(key, tagged(tagSeal, link.Bytes())), Votes: votes}
}

// NewVouch signs that entry is on the signer's chain of run at a height.
func NewVouch(run Link, height uint64, entry Link, key ed25519.PrivateKey) []byte {
	return ed25519.Sign(key, vouchMessage(run, height, entry))
}

func vouchMessage(run Link, height uint64, entry Link) []byte {
	return tagged(tagVouch, run.Bytes(), binary.LittleEndian.AppendUint64(nil, height), entry.Bytes())
}

// NewVote grants term of run to candidate.
func NewVote(run Link, term uint64, candidate Peer, key ed25519.PrivateKey) Vote {
	return Vote{Voter: PeerOf(key), Signature: ed25519.Sign(key, voteMessage(run, term, candidate))}
}

func voteMessage(run Link, term uint64, candidate Peer) []byte {
	return tagged(tagVote, run.Bytes(), binary.LittleEndian.AppendUint64(nil, term), candidate[:])
}

// Check reports whether the vote was really given.
func (v *Vote) Check(run Link, term uint64, candidate Peer) error {
	return checkSignature("vote", v.Voter, v.Signature, voteMessage(run, term, candidate))
}

// Encode returns the seal's block and its link.
func (s *Seal) Encode() ([]byte, Link) {
	data := Encode(s)
	return data, LinkOf(data)
}

// DecodeSeal reads a seal block. It checks the form; [Rules.CheckEntry] checks the signatures.
func DecodeSeal(data []byte) (*Seal, error) {
	s := new(Seal)
	if err := decode(data, MaxSealBytes, s); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	if len(s.Votes) > MaxVotes {
		return nil, fmt.Errorf("seal: %w: %d votes, at most %d", ErrTooLarge, len(s.Votes), MaxVotes)
	}
	for i := 1; i < len(s.Votes); i++ {
		if s.Votes[i-1].Voter.Compare(s.Votes[i].Voter) >= 0 {
			return nil, fmt.Errorf("seal: %w: votes out of order", ErrMalformed)
		}
	}
	return s, nil
}

// checkSeal verifies that the seal belongs to the entry and that the leader and every voter signed.
func checkSeal(entry Block[Entry], seal Block[Seal]) error {
	e, s, link := entry.value, seal.value, entry.link
	if s.Entry != link {
		return fmt.Errorf("%w: seal of %s on entry %s", ErrLink, s.Entry, link)
	}
	if err := checkSignature("seal", e.Leader, s.Signature, tagged(tagSeal, link.Bytes())); err != nil {
		return err
	}
	for i := range s.Votes {
		if err := s.Votes[i].Check(e.Run, e.Term, e.Leader); err != nil {
			return err
		}
	}
	return nil
}
