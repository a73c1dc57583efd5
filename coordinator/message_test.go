package coordinator

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	drawBytes = rapid.SliceOfN(rapid.Byte(), 0, 80)
	drawLink  = rapid.Custom(func(t *rapid.T) seedlog.Link { return seedlog.LinkOf(drawBytes.Draw(t, "block")) })
	drawItem  = rapid.Custom(func(t *rapid.T) InventoryItem {
		return InventoryItem{Claim: drawLink.Draw(t, "claim"), Best: rapid.Int64().Draw(t, "best"), Seed: rapid.Uint64().Draw(t, "seed")}
	})
	drawFraudProof = rapid.Custom(func(t *rapid.T) FraudProof {
		return FraudProof{Claim: drawBytes.Draw(t, "claim"), Proof: drawBytes.Draw(t, "proof")}
	})
	drawGeneration = rapid.Custom(func(t *rapid.T) Generation {
		return Generation{Entry: drawBytes.Draw(t, "entry"), Seal: drawBytes.Draw(t, "seal"), Claims: rapid.SliceOfN(drawBytes, 0, 4).Draw(t, "claims")}
	})
)

// drawMessages draws a message of each type.
var drawMessages = map[string]func(*rapid.T) Message{
	"Status": func(t *rapid.T) Message {
		n := rapid.Uint64()
		height := n.Draw(t, "height")
		return &Status{Kind: rapid.SampledFrom([]Kind{Native, Tab}).Draw(t, "kind"), Hub: rapid.Bool().Draw(t, "hub"), Leads: rapid.Bool().Draw(t, "leads"),
			Term: n.Draw(t, "term"), Head: drawLink.Draw(t, "head"), Height: height, Weight: n.Draw(t, "weight"), Leaves: n.Draw(t, "leaves"), Idle: n.Draw(t, "idle"),
			Gone: rapid.Uint64Range(0, height).Draw(t, "gone")}
	},
	"Inventory": func(t *rapid.T) Message {
		return &Inventory{Parent: drawLink.Draw(t, "parent"), Items: rapid.SliceOfN(drawItem, 0, 4).Draw(t, "items")}
	},
	"Want":   func(t *rapid.T) Message { return &Want{Claims: rapid.SliceOfN(drawLink, 0, 4).Draw(t, "claims")} },
	"Claims": func(t *rapid.T) Message { return &Claims{Blocks: rapid.SliceOfN(drawBytes, 0, 4).Draw(t, "blocks")} },
	"Announce": func(t *rapid.T) Message {
		return &Announce{Entry: drawBytes.Draw(t, "entry"), Seal: drawBytes.Draw(t, "seal")}
	},
	"Pull": func(t *rapid.T) Message { return &Pull{Locator: rapid.SliceOfN(drawLink, 0, 4).Draw(t, "locator")} },
	"Segment": func(t *rapid.T) Message {
		return &Segment{Generations: rapid.SliceOfN(drawGeneration, 0, 3).Draw(t, "generations"),
			Proofs: rapid.SliceOfN(drawFraudProof, 0, 3).Draw(t, "proofs"), Height: rapid.Uint64().Draw(t, "height")}
	},
	"FraudProof": func(t *rapid.T) Message { a := drawFraudProof.Draw(t, "fraud proof"); return &a },
	"VoteRequest": func(t *rapid.T) Message {
		return &VoteRequest{Pre: rapid.Bool().Draw(t, "pre"), Handover: drawBytes.Draw(t, "handover"), Term: rapid.Uint64().Draw(t, "term"),
			Head: drawLink.Draw(t, "head")}
	},
	"VoteReply": func(t *rapid.T) Message {
		return &VoteReply{Pre: rapid.Bool().Draw(t, "pre"), Granted: rapid.Bool().Draw(t, "granted"), Term: rapid.Uint64().Draw(t, "term"), Signature: drawBytes.Draw(t, "signature")}
	},
	"Handover": func(t *rapid.T) Message {
		return &Handover{Term: rapid.Uint64().Draw(t, "term"), Head: drawLink.Draw(t, "head"), Signature: drawBytes.Draw(t, "signature")}
	},
	"Equivocation": func(t *rapid.T) Message {
		return &Equivocation{First: drawBytes.Draw(t, "first"), FirstSignature: drawBytes.Draw(t, "signature"), Second: drawBytes.Draw(t, "second"), SecondSignature: drawBytes.Draw(t, "signature")}
	},
	"Mandate": func(t *rapid.T) Message {
		m := &Mandate{Term: rapid.Uint64().Draw(t, "term"), Leader: Peer{9}, Votes: []seedlog.Vote{}}
		for i := range rapid.IntRange(0, 4).Draw(t, "votes") {
			m.Votes = append(m.Votes, seedlog.Vote{Voter: Peer{byte(i)}, Signature: drawBytes.Draw(t, "signature")})
		}
		return m
	},
	"DoubleVote": func(t *rapid.T) Message {
		return &DoubleVote{Term: rapid.Uint64().Draw(t, "term"), Voter: drawPeer(t, 255), First: Peer{1}, FirstSignature: drawBytes.Draw(t, "signature"),
			Second: Peer{rapid.Byte().Draw(t, "second") | 2}, SecondSignature: drawBytes.Draw(t, "signature")}
	},
	"Leave": func(*rapid.T) Message { return &Leave{} },
	"Recheck": func(t *rapid.T) Message {
		return &Recheck{Results: rapid.Uint64().Draw(t, "results"), Claim: drawBytes.Draw(t, "claim")}
	},
	"Rechecked": func(t *rapid.T) Message {
		m := &Rechecked{Claim: drawLink.Draw(t, "claim"), Same: rapid.Bool().Draw(t, "same"), Peer: drawPeer(t, 255), Signature: drawBytes.Draw(t, "signature")}
		m.Unable = !m.Same && len(m.Signature) == 0 && rapid.Bool().Draw(t, "unable")
		return m
	},
	"Ask": func(t *rapid.T) Message {
		return &Ask{Height: rapid.Uint64().Draw(t, "height"), Offset: rapid.Uint64().Draw(t, "offset")}
	},
	"Part": func(t *rapid.T) Message {
		m := &Part{Height: rapid.Uint64().Draw(t, "height"), Size: rapid.Uint64().Draw(t, "size"), Entry: []byte{}, Seal: []byte{}, Data: drawBytes.Draw(t, "data"), Own: []seedlog.Link{}}
		if m.Offset = rapid.Uint64Range(0, 2).Draw(t, "offset"); m.Offset == 0 {
			m.Entry, m.Seal = []byte{1}, drawBytes.Draw(t, "seal")
			m.Evaluations, m.Steps = rapid.Uint64().Draw(t, "evaluations"), rapid.Uint64().Draw(t, "steps")
			m.Own = rapid.SliceOfN(drawLink, 0, 4).Draw(t, "own")
		}
		return m
	},
	"Seek": func(t *rapid.T) Message { return &Seek{Height: rapid.Uint64().Draw(t, "height")} },
	"Base": func(t *rapid.T) Message {
		m := &Base{Entry: drawBytes.Draw(t, "entry"), Seal: drawBytes.Draw(t, "seal"), Evaluations: rapid.Uint64().Draw(t, "evaluations"),
			Steps: rapid.Uint64().Draw(t, "steps"), Weight: rapid.Uint64().Draw(t, "weight"), Size: rapid.Uint64Range(1, 4*aheadPart).Draw(t, "size")}
		m.Parts = make([]byte, 32*parts(m.Size))
		return m
	},
	"Advance": func(t *rapid.T) Message {
		return &Advance{Entry: drawLink.Draw(t, "entry"), State: drawBytes.Draw(t, "state")}
	},
	"Push": func(t *rapid.T) Message {
		m := &Push{Link: drawLink.Draw(t, "link"), Entry: []byte{}, Seal: []byte{}, Batches: [][]byte{}, Claims: rapid.SliceOfN(drawBytes, 0, 4).Draw(t, "claims")}
		if m.First = rapid.Uint64Range(0, 2).Draw(t, "first"); m.First == 0 {
			m.Entry, m.Seal, m.Batches = []byte{1}, []byte{2}, rapid.SliceOfN(drawBytes, 0, 4).Draw(t, "batches")
		}
		return m
	},
	"Vouch": func(t *rapid.T) Message {
		return &Vouch{Peer: drawPeer(t, 255), Height: rapid.Uint64().Draw(t, "height"), Entry: drawLink.Draw(t, "entry"), Signature: drawBytes.Draw(t, "signature")}
	},
}

func TestMessagesRoundTrip(t *testing.T) {
	for name, draw := range drawMessages {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := draw(t)
				got, err := DecodeMessage(EncodeMessage(want))
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("got %+v, want %+v", got, want)
				}
			})
		})
	}
	known := 0
	for kind := range 256 {
		if m := newMessage(byte(kind)); m != nil {
			known++
			if got := int(m.kind()); got != kind {
				t.Errorf("got type %d for number %d", got, kind)
			}
		}
	}
	if known != len(drawMessages) {
		t.Errorf("%d types are known, %d are drawn above", known, len(drawMessages))
	}
}

func TestMessageLimits(t *testing.T) {
	link := seedlog.LinkOf(nil)
	for _, test := range []struct {
		name  string
		limit int
		make  func(n int) Message
	}{
		{"inventory items", maxInventory, func(n int) Message {
			m := &Inventory{Parent: link}
			for range n {
				m.Items = append(m.Items, InventoryItem{Claim: link})
			}
			return m
		}},
		{"wanted claims", maxWant, func(n int) Message { return &Want{Claims: links(n)} }},
		{"claims", maxWant, func(n int) Message { return &Claims{Blocks: blocks(n)} }},
		{"locator", maxLocator, func(n int) Message { return &Pull{Locator: links(n)} }},
		{"generations", maxGenerations, func(n int) Message {
			m := &Segment{Proofs: []FraudProof{}}
			for range n {
				m.Generations = append(m.Generations, Generation{Entry: []byte{}, Seal: []byte{}, Claims: [][]byte{}})
			}
			return m
		}},
		{"proofs", maxWant, func(n int) Message {
			m := &Segment{Generations: []Generation{}}
			for range n {
				m.Proofs = append(m.Proofs, FraudProof{Claim: []byte{}, Proof: []byte{}})
			}
			return m
		}},
		{"candidates in order", 1, func(n int) Message {
			return &DoubleVote{First: Peer{byte(n)}, FirstSignature: []byte{}, Second: Peer{2}, SecondSignature: []byte{}}
		}},
		{"bytes of a state", aheadPart, func(n int) Message { return &Part{Offset: 1, Entry: []byte{}, Seal: []byte{}, Data: make([]byte, n)} }},
		{"bytes of a state for all", maxCarried, func(n int) Message { return &Advance{Entry: link, State: make([]byte, n)} }},
		{"kind of peer", int(Tab), func(n int) Message { return &Status{Kind: Kind(n), Head: link} }},
		{"height of what is gone", 7, func(n int) Message { return &Status{Height: 7, Gone: uint64(n), Head: link} }},
		{"bytes", MaxDirectBytes - 8, func(n int) Message { return &Claims{Blocks: [][]byte{make([]byte, n)}} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := DecodeMessage(EncodeMessage(test.make(test.limit))); err != nil {
				t.Errorf("at the limit of %d: %v", test.limit, err)
			}
			if _, err := DecodeMessage(EncodeMessage(test.make(test.limit + 1))); !errors.Is(err, ErrMessage) {
				t.Errorf("over the limit of %d: got error %v, want %v", test.limit, err, ErrMessage)
			}
		})
	}
}

func links(n int) []seedlog.Link {
	list := make([]seedlog.Link, n)
	for i := range list {
		list[i] = seedlog.LinkOf(nil)
	}
	return list
}

func blocks(n int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = []byte{}
	}
	return list
}

func TestMalformedMessages(t *testing.T) {
	leave := EncodeMessage(&Leave{})
	status := EncodeMessage(&Status{Head: seedlog.LinkOf(nil)})
	for _, test := range []struct {
		name string
		data []byte
	}{
		{"nothing", nil},
		{"type alone", leave[:1]},
		{"type 0", append([]byte{0}, leave[1:]...)},
		{"type beyond the last", append([]byte{99}, leave[1:]...)},
		{"cut off", status[:len(status)-1]},
		{"bytes behind", append(status[:len(status):len(status)], 0)},
		{"another type's fields", append([]byte{1}, leave[1:]...)},
		{"array of open length", []byte{12, 0x9f, 0xff}},
		{"null for a message", []byte{11, 0xf6}},
		{"null for a link", []byte{3, 0x81, 0x81, 0xf6}},
		{"length in more bytes than it takes", []byte{12, 0x98, 0x00}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if m, err := DecodeMessage(test.data); !errors.Is(err, ErrMessage) {
				t.Errorf("got %+v and error %v, want %v", m, err, ErrMessage)
			}
		})
	}
}

// FuzzDecodeMessage: no bytes crash the decoder, and what it accepts it would have written.
func FuzzDecodeMessage(f *testing.F) {
	link := seedlog.LinkOf([]byte("block"))
	for _, m := range []Message{
		&Status{Kind: Tab, Head: link, Term: math.MaxUint64}, &Inventory{Parent: link, Items: []InventoryItem{{Claim: link, Best: math.MinInt64}}},
		&Want{Claims: []seedlog.Link{link}}, &Claims{Blocks: [][]byte{{1}}}, &Announce{Entry: []byte{1}, Seal: []byte{2}}, &Pull{Locator: []seedlog.Link{link}},
		&Segment{Generations: []Generation{{Entry: []byte{1}, Seal: []byte{2}, Claims: [][]byte{{3}}}}, Proofs: []FraudProof{{Claim: []byte{1}, Proof: []byte{2}}}},
		&FraudProof{Claim: []byte{1}, Proof: []byte{2}}, &VoteRequest{Term: 1, Head: link}, &VoteReply{Granted: true, Signature: []byte{1}}, &Handover{Term: 1, Head: link}, &Leave{}, &Vouch{Entry: link, Signature: []byte{1}},
		&Equivocation{First: []byte{1}, FirstSignature: []byte{2}, Second: []byte{3}, SecondSignature: []byte{4}},
		&DoubleVote{Term: 1, Voter: Peer{3}, First: Peer{1}, FirstSignature: []byte{1}, Second: Peer{2}, SecondSignature: []byte{2}},
		&Mandate{Term: 1, Leader: Peer{1}, Votes: []seedlog.Vote{{Voter: Peer{2}, Signature: []byte{1}}}},
		&Recheck{Results: 1, Claim: []byte{1}}, &Rechecked{Claim: link, Same: true, Peer: Peer{1}, Signature: []byte{1}},
		&Ask{Height: 1}, &Part{Height: 1, Size: 2, Entry: []byte{1}, Seal: []byte{1}, Data: []byte{1}}, &Advance{Entry: link, State: []byte{1}},
		&Seek{Height: 1}, &Base{Entry: []byte{1}, Seal: []byte{1}, Size: 1, Parts: make([]byte, 32)},
		&Push{Link: link, Entry: []byte{1}, Seal: []byte{2}, Batches: [][]byte{{3}}, Claims: [][]byte{{4}}}, &Push{Link: link, First: 1, Claims: [][]byte{{4}}},
	} {
		f.Add(EncodeMessage(m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeMessage(data)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatalf("got error %v, want %v", err, ErrMessage)
			}
			return
		}
		if got := EncodeMessage(m); string(got) != string(data) {
			t.Fatalf("read %x, would write %x", data, got)
		}
	})
}
