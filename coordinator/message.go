package coordinator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrMessage is returned for bytes that are no message of this protocol.
var ErrMessage = errors.New("coordinator: malformed message")

// Limits of messages, in bytes of their encoding.
const (
	MaxGossipBytes = 96 << 10 // an entry of the largest size, with its seal
	MaxDirectBytes = 1 << 20  // a segment
)

// Limits inside messages.
const (
	maxInventory   = 512
	maxWant        = 256
	maxLocator     = 64
	maxGenerations = 256
	segmentBytes   = 512 << 10 // a segment stops growing here
)

// Message is one of the types below. On the wire it is its type's number (one byte) and a CBOR tuple.
type Message interface{ kind() byte }

// Status says that its author is alive, and what its head is. The leader's status is the heartbeat.
type Status struct {
	_      struct{} `cbor:",toarray"`
	Kind   Kind
	Hub    bool
	Leads  bool // whether the author leads in Term
	Term   uint64
	Head   seedlog.Link
	Height uint64
	Weight uint64 // of the chain up to Head
	Leaves uint64 // leaves that the author hears directly; other hubs of the same leaf count it, too
	Idle   uint64 // of them those that work but are too late for every entry
	Claims uint64 // claims on Head that the author, a hub, holds of peers with a record
	Gone   uint64 // height up to which the author gives no entries: it dropped them, or has not folded them; 0: it gives all
}

// Inventory tells the leader which claims its author, a hub, holds.
type Inventory struct {
	_      struct{} `cbor:",toarray"`
	Parent seedlog.Link
	Items  []InventoryItem
}

// InventoryItem announces one claim.
type InventoryItem struct {
	_     struct{} `cbor:",toarray"`
	Claim seedlog.Link
	Best  int64  // highest fitness of the chunk
	Seed  uint64 // the perturbation that has it
}

// Want asks for claims by link.
type Want struct {
	_      struct{} `cbor:",toarray"`
	Claims []seedlog.Link
}

// Claims carries claim blocks: the answer to Want, and how a leaf gives its own to a hub.
type Claims struct {
	_      struct{} `cbor:",toarray"`
	Blocks [][]byte
}

// Announce carries a new entry and its seal.
type Announce struct {
	_     struct{} `cbor:",toarray"`
	Entry []byte
	Seal  []byte
}

// Advance carries the state after an entry that its author, a leader, announces.
type Advance struct {
	_     struct{} `cbor:",toarray"`
	Entry seedlog.Link
	State []byte // encoded; at most maxCarried bytes
}

// Pull asks for what follows the first link of Locator that the receiver has on its canonical chain.
type Pull struct {
	_       struct{}       `cbor:",toarray"`
	Locator []seedlog.Link // own links from the tip down, ending with the run id
}

// Segment answers Pull: generations in order, and proofs that the sender acted on.
type Segment struct {
	_           struct{} `cbor:",toarray"`
	Generations []Generation
	Proofs      []FraudProof
	Height      uint64 // of the sender's head
}

// Generation is an entry with all that it names.
type Generation struct {
	_      struct{} `cbor:",toarray"`
	Entry  []byte
	Seal   []byte
	Claims [][]byte // in the entry's order; in front of them its batches, where it names some
}

// FraudProof carries a proof that a claim is false, and the claim.
type FraudProof struct {
	_     struct{} `cbor:",toarray"`
	Claim []byte
	Proof []byte
}

// VoteRequest asks for a vote, or with Pre whether a vote would be given.
type VoteRequest struct {
	_        struct{} `cbor:",toarray"`
	Pre      bool
	Handover []byte // the leader's own vote for the author, who may take over while it lives; empty: it gave none
	Term     uint64
	Head     seedlog.Link
}

// VoteReply answers VoteRequest.
type VoteReply struct {
	_         struct{} `cbor:",toarray"`
	Pre       bool
	Granted   bool
	Term      uint64 // as requested when granted, else the replier's own
	Signature []byte // of the vote, when granted and not Pre
}

// Handover asks the receiver to lead from Term on.
type Handover struct {
	_         struct{} `cbor:",toarray"`
	Term      uint64
	Head      seedlog.Link
	Signature []byte // of the leader's vote for the receiver, which others take for the end of its mandate
}

// Equivocation shows that a leader signed two entries for one place.
type Equivocation struct {
	_               struct{} `cbor:",toarray"`
	First           []byte
	FirstSignature  []byte // of First's seal
	Second          []byte
	SecondSignature []byte
}

// DoubleVote shows that a voter gave its vote of a term to two candidates.
type DoubleVote struct {
	_               struct{} `cbor:",toarray"`
	Term            uint64
	Voter           Peer
	First           Peer // the candidates, in the order of their keys
	FirstSignature  []byte
	Second          Peer
	SecondSignature []byte
}

// Mandate shows why a peer leads a term: the votes for it. Anybody may pass it on.
type Mandate struct {
	_      struct{} `cbor:",toarray"`
	Term   uint64
	Leader Peer
	Votes  []seedlog.Vote // in the order of the voters' keys
}

// Recheck asks a native to re-run so many results of a claim for the leader, which ones is for it to draw.
type Recheck struct {
	_       struct{} `cbor:",toarray"`
	Results uint64
	Claim   []byte
}

// Rechecked answers Recheck.
type Rechecked struct {
	_         struct{} `cbor:",toarray"`
	Claim     seedlog.Link
	Same      bool   // whether the results were the same; false also where the author cannot tell
	Unable    bool   // whether the author did not look: it lacks the state, or is busy
	Peer      Peer   // the author
	Signature []byte // attests the claim where all of its results were the same; else empty
}

// Leave says goodbye.
type Leave struct {
	_ struct{} `cbor:",toarray"`
}

func (*Status) kind() byte       { return 1 }
func (*Inventory) kind() byte    { return 2 }
func (*Want) kind() byte         { return 3 }
func (*Claims) kind() byte       { return 4 }
func (*Announce) kind() byte     { return 5 }
func (*Pull) kind() byte         { return 6 }
func (*Segment) kind() byte      { return 7 }
func (*FraudProof) kind() byte   { return 8 }
func (*VoteRequest) kind() byte  { return 9 }
func (*VoteReply) kind() byte    { return 10 }
func (*Handover) kind() byte     { return 11 }
func (*Leave) kind() byte        { return 12 }
func (*Vouch) kind() byte        { return 13 }
func (*Equivocation) kind() byte { return 14 }
func (*Mandate) kind() byte      { return 15 }
func (*DoubleVote) kind() byte   { return 16 }
func (*Recheck) kind() byte      { return 17 }
func (*Rechecked) kind() byte    { return 18 }
func (*Ask) kind() byte          { return 19 }
func (*Part) kind() byte         { return 20 }
func (*Advance) kind() byte      { return 21 }
func (*Seek) kind() byte         { return 22 }
func (*Base) kind() byte         { return 23 }
func (*Push) kind() byte         { return 24 }

func newMessage(kind byte) Message {
	switch kind {
	case 1:
		return new(Status)
	case 2:
		return new(Inventory)
	case 3:
		return new(Want)
	case 4:
		return new(Claims)
	case 5:
		return new(Announce)
	case 6:
		return new(Pull)
	case 7:
		return new(Segment)
	case 8:
		return new(FraudProof)
	case 9:
		return new(VoteRequest)
	case 10:
		return new(VoteReply)
	case 11:
		return new(Handover)
	case 12:
		return new(Leave)
	case 13:
		return new(Vouch)
	case 14:
		return new(Equivocation)
	case 15:
		return new(Mandate)
	case 16:
		return new(DoubleVote)
	case 17:
		return new(Recheck)
	case 18:
		return new(Rechecked)
	case 19:
		return new(Ask)
	case 20:
		return new(Part)
	case 21:
		return new(Advance)
	case 22:
		return new(Seek)
	case 23:
		return new(Base)
	case 24:
		return new(Push)
	}
	return nil
}

// EncodeMessage returns the wire form of m. Canonical.
func EncodeMessage(m Message) []byte { return append([]byte{m.kind()}, seedlog.Encode(m)...) }

// DecodeMessage reads the wire form. It refuses what EncodeMessage would not have written, and lists over their limits;
// blocks inside are checked where they are used.
func DecodeMessage(data []byte) (Message, error) {
	if len(data) < 2 || len(data) > MaxDirectBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrMessage, len(data))
	}
	m := newMessage(data[0])
	if m == nil {
		return nil, fmt.Errorf("%w: unknown type %d", ErrMessage, data[0])
	}
	if err := messageMode.Unmarshal(data[1:], m); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMessage, err)
	}
	if err := checkMessage(m); err != nil {
		return nil, err
	}
	again, err := seedlog.TryEncode(m) // fails where CBOR has null in place of a link
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMessage, err)
	}
	if !bytes.Equal(again, data[1:]) {
		return nil, fmt.Errorf("%w: not canonical", ErrMessage)
	}
	return m, nil
}

func checkMessage(m Message) error {
	switch x := m.(type) {
	case *Inventory:
		return atMost("inventory items", len(x.Items), maxInventory)
	case *Want:
		return atMost("wanted claims", len(x.Claims), maxWant)
	case *Claims:
		return atMost("claims", len(x.Blocks), maxWant)
	case *Pull:
		return atMost("locator links", len(x.Locator), maxLocator)
	case *Segment:
		if err := atMost("proofs", len(x.Proofs), maxWant); err != nil {
			return err
		}
		return atMost("generations", len(x.Generations), maxGenerations)
	case *Mandate:
		if err := atMost("votes", len(x.Votes), seedlog.MaxVotes); err != nil {
			return err
		}
		return inOrder(x.Votes)
	case *DoubleVote:
		if x.First.Compare(x.Second) >= 0 {
			return fmt.Errorf("%w: candidates out of order", ErrMessage)
		}
	case *Part:
		if (x.Offset == 0) != (len(x.Entry) > 0) {
			return fmt.Errorf("%w: the entry comes with the first bytes of its state, and with no others", ErrMessage)
		}
		if x.Offset > 0 && (x.Evaluations > 0 || x.Steps > 0 || len(x.Own) > 0) {
			return fmt.Errorf("%w: what a chain has comes with the first bytes of its state, and with no others", ErrMessage)
		}
		if err := atMost("own claims", len(x.Own), maxWant); err != nil {
			return err
		}
		return atMost("bytes of a state", len(x.Data), aheadPart)
	case *Advance:
		return atMost("bytes of a state", len(x.State), maxCarried)
	case *Base:
		if n := uint64(len(x.Parts)); x.Size == 0 || n%sha256.Size != 0 || n/sha256.Size != parts(x.Size) {
			return fmt.Errorf("%w: %d bytes of digests of parts for a state of %d bytes", ErrMessage, n, x.Size)
		}
	case *Push:
		if first := x.First == 0; first != (len(x.Entry) > 0) || first != (len(x.Seal) > 0) || !first && len(x.Batches) > 0 {
			return fmt.Errorf("%w: an entry comes with the first of its claims, and with no others", ErrMessage)
		}
		if err := atMost("batches", len(x.Batches), seedlog.MaxBatches); err != nil {
			return err
		}
		return atMost("claims", len(x.Claims), maxWant)
	case *Rechecked:
		if x.Unable && (x.Same || len(x.Signature) > 0) {
			return fmt.Errorf("%w: an answer of who did not look", ErrMessage)
		}
	case *Status:
		if x.Kind > Tab {
			return fmt.Errorf("%w: unknown kind of peer %d", ErrMessage, x.Kind)
		}
		if x.Gone > x.Height {
			return fmt.Errorf("%w: a peer at height %d without entries up to %d", ErrMessage, x.Height, x.Gone)
		}
	}
	return nil
}

func inOrder(votes []seedlog.Vote) error {
	for i := 1; i < len(votes); i++ {
		if votes[i-1].Voter.Compare(votes[i].Voter) >= 0 {
			return fmt.Errorf("%w: votes out of order", ErrMessage)
		}
	}
	return nil
}

func atMost(what string, n, limit int) error {
	if n > limit {
		return fmt.Errorf("%w: %d %s, at most %d", ErrMessage, n, what, limit)
	}
	return nil
}

var messageMode = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxArrayElements:  1 << 15,
		MaxMapPairs:       16,
		MaxNestedLevels:   8,
	}.DecMode()
	if err != nil {
		panic("coordinator: " + err.Error())
	}
	return m
}()
