//go:build !js

package peer_test

import (
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// promises are what peers have made durable so far.
type promises struct {
	mu      sync.Mutex
	entries map[seedlog.Link]bool // on the disk of the leader that signed them
	votes   map[vote]bool         // on the disk of the voter
	checked int
	broken  []string
}

type vote struct {
	voter, candidate seedlog.Peer
	term             uint64
}

// slowStore takes its time to save, and checks that what others sent was on their disks by then.
type slowStore struct {
	store.Store
	self     seedlog.Peer
	promises *promises
	every    int // which saves of own entries fail, one in so many; 0: none
	own      int // saves of own entries so far
}

// slowness is far longer than a message and all that follows from it take.
const slowness = 150 * time.Millisecond

func (s *slowStore) Save(b store.Batch) error {
	entries := s.check(b)
	if b.State != nil || len(entries) > 0 { // following others stays fast, so that what comes too early is seen
		time.Sleep(slowness)
	}
	if len(entries) > 0 && s.every > 0 {
		if s.own++; s.own%s.every == 0 {
			return store.ErrFull
		}
	}
	if err := s.Store.Save(b); err != nil {
		return err
	}
	p := s.promises
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, link := range entries {
		p.entries[link] = true
	}
	var hard []cbor.RawMessage // the term and the candidate come first
	var v vote
	var candidate []byte
	if b.State != nil && cbor.Unmarshal(b.State, &hard) == nil && cbor.Unmarshal(hard[0], &v.term) == nil && cbor.Unmarshal(hard[1], &candidate) == nil && len(candidate) == len(v.candidate) {
		v.voter, v.candidate = s.self, seedlog.Peer(candidate)
		p.votes[v] = true
	}
	return nil
}

// check looks at entries of other leaders and at votes of other peers in a batch. It returns this peer's own entries.
func (s *slowStore) check(b store.Batch) (own []seedlog.Link) {
	p := s.promises
	p.mu.Lock()
	defer p.mu.Unlock()
	sealed := make(map[seedlog.Link]*seedlog.Entry)
	for _, block := range b.Blocks {
		e, err := seedlog.DecodeEntry(block.Bytes())
		if err != nil {
			continue
		}
		sealed[block.Link()] = e
		if e.Leader == s.self {
			own = append(own, block.Link())
			continue
		}
		p.checked++
		if !p.entries[block.Link()] {
			p.broken = append(p.broken, "an entry was sent before its leader had saved it")
		}
	}
	for _, block := range b.Blocks {
		seal, err := seedlog.DecodeSeal(block.Bytes())
		if err != nil || sealed[seal.Entry] == nil {
			continue
		}
		e := sealed[seal.Entry]
		for _, v := range seal.Votes {
			if v.Voter == s.self || v.Voter == e.Leader {
				continue
			}
			p.checked++
			if !p.votes[vote{v.Voter, e.Leader, e.Term}] {
				p.broken = append(p.broken, "a vote was sent before its voter had saved it")
			}
		}
	}
	return own
}

// What a peer has sent is on its disk, however slow that is: an entry before its announcement, a vote before its reply.
// Otherwise a loss of power could make it sign another entry for the same place, or vote twice in a term.
func TestNothingIsSentBeforeItIsSaved(t *testing.T) {
	rules := cartPole(t)
	p := &promises{entries: make(map[seedlog.Link]bool), votes: make(map[vote]bool)}
	slow := func(n byte) func(*peer.Config) {
		return func(c *peer.Config) {
			c.Store = &slowStore{Store: store.NewMemory(rules.Spec), self: seedlog.PeerOf(key(n)), promises: p}
			c.Mandate = 2 // so that votes are given
			c.Timing = coordinator.LAN()
		}
	}
	a := join(t, rules, 1, slow(1))
	b := join(t, rules, 2, slow(2), a)
	c := join(t, rules, 3, slow(3), a, b)
	seen := map[string]bool{}
	until(t, "leaders have changed", c, func(s peer.Status) bool {
		seen[s.Leader] = s.Leader != ""
		return s.Height >= 12 && len(seen) > 2
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, what := range p.broken {
		t.Error(what)
	}
	if p.checked < 10 || len(p.votes) == 0 {
		t.Errorf("only %d things were checked, with %d votes", p.checked, len(p.votes))
	}
}

// What a peer cannot save it does not send. It tries again until it can, and then sends it.
func TestNothingIsSentThatCannotBeSaved(t *testing.T) {
	rules := cartPole(t)
	p := &promises{entries: make(map[seedlog.Link]bool), votes: make(map[vote]bool)}
	failing := &slowStore{Store: &keeper{Memory: store.NewMemory(rules.Spec)}, self: seedlog.PeerOf(key(1)), promises: p, every: 4}
	a := join(t, rules, 1, func(c *peer.Config) {
		c.Store, c.Retry = failing, 3*slowness
		c.Reopen = func() (store.Store, error) { return failing, nil }
	})
	listener, err := mesh.New(t.Context(), mesh.Config{Key: key(66)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := listener.Dial(t.Context(), a.mesh.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	if err := listener.Enter(seedlog.Encode(rules.Spec)); err != nil {
		t.Fatal(err)
	}
	timeout := time.After(patience)
	for announced := 0; announced < 12; {
		select {
		case e := <-listener.Events():
			r, ok := e.(mesh.Received)
			if !ok {
				continue
			}
			m, ok := r.Message.(*coordinator.Announce)
			if !ok {
				continue
			}
			announced++
			p.mu.Lock()
			saved := p.entries[seedlog.LinkOf(m.Entry)]
			p.mu.Unlock()
			if !saved {
				t.Fatal("an entry was sent that is not saved")
			}
		case <-timeout:
			t.Fatalf("waited in vain for entries: %d came", announced)
		}
	}
}
