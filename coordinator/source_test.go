package coordinator

import (
	"crypto/ed25519"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// hand has a stranger at an address send a message to a native.
func (f *field) hand(key ed25519.PrivateKey, at string, to *member, m Message) {
	f.t.Helper()
	peer := seedlog.PeerOf(key)
	checked, err := Check(seedlog.NewChecker(f.rules), m, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.step(to, Received{From: peer, Via: peer, Source: at, Message: checked})
}

// TestManyKeysOfOneAddress has 256 keys behind one block of addresses fill what newcomers share: one honest neighbor at
// another address keeps a half of each table, and every second turn.
func TestManyKeysOfOneAddress(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(30)
	m := f.peers[0]
	c := m.coord
	many, honest := "203.0.113.0/24", "198.51.100.0/24"
	key := f.strangerKey(1)
	keys := junkKeys[:256]

	give := func(by ed25519.PrivateKey, at string, author ed25519.PrivateKey) seedlog.Link {
		claim := f.junkClaim(author, c.chain.head.link, 0)
		c.work.pool.wanted.Put(claim.Link(), c.self, 1, want{})
		f.hand(by, at, m, &Claims{Blocks: [][]byte{claim.Bytes()}})
		return claim.Link()
	}
	for i, author := range junkKeys[300:1300] {
		give(keys[i%256], many, author)
	}
	var links []seedlog.Link
	for _, author := range junkKeys[1400 : 1400+maxNewClaims/2] {
		links = append(links, give(key, honest, author))
	}
	for i, link := range links {
		if c.work.pool.links[link] == nil {
			t.Errorf("claim %d of %d of the honest neighbor has no room", i, len(links))
		}
	}
	turns := 0
	for range 40 {
		if from, _, ok := c.work.pool.unchecked.Pop(); ok && from.at == honest {
			turns++
		}
	}
	if turns < 19 {
		t.Errorf("%d of 40 re-runs of newcomers' claims are for the honest neighbor", turns)
	}

	for range questionsEach {
		for _, k := range keys {
			c.onQuestion(question{from: seedlog.PeerOf(k), at: source{at: many}, message: new(Pull)})
		}
	}
	for range 16 {
		c.onQuestion(question{from: seedlog.PeerOf(key), at: source{at: honest}, message: new(Pull)})
	}
	if n := c.serving.rest.fresh.Waiting(source{at: many}); n != questionsOf {
		t.Errorf("%d questions of one block wait, at most %d may", n, questionsOf)
	}
	turns = 0
	for range 20 {
		if _, q, ok := c.serving.rest.fresh.Pop(); ok && q.from == seedlog.PeerOf(key) {
			turns++
		}
	}
	if turns < 9 {
		t.Errorf("%d of 20 answers are for the honest neighbor", turns)
	}

	branch := func(by ed25519.PrivateKey, at string, author ed25519.PrivateKey) seedlog.Link {
		parent := c.chain.head.parent
		e := f.rules.EntryOf(parent.parentInfo(), parent.term+1, seedlog.PeerOf(author), []seedlog.CheckedClaim{f.junkClaim(author, parent.link, 0), f.junkClaim(author, parent.link, 1)}, [32]byte{}, [32]byte{})
		entry := f.rules.OwnEntry(e, author, nil)
		g := Generation{Entry: entry.Bytes(), Seal: entry.Seal().Bytes()}
		for _, batch := range entry.Batches() {
			g.Claims = append(g.Claims, batch.Bytes())
		}
		for chunk := range uint64(2) {
			g.Claims = append(g.Claims, f.junkClaim(author, parent.link, chunk).Bytes())
		}
		c.members.pulls[seedlog.PeerOf(by)] = &pull{asked: true}
		f.hand(by, at, m, &Segment{Generations: []Generation{g}, Proofs: []FraudProof{}, Height: parent.height + 1})
		return entry.Link()
	}
	links = links[:0]
	for _, author := range junkKeys[1000:1040] {
		links = append(links, branch(key, honest, author))
	}
	for i, author := range junkKeys[1100:1400] {
		branch(keys[i%256], many, author)
	}
	for i, link := range links {
		if c.chain.nodes[link] == nil {
			t.Errorf("branch %d of %d of the honest neighbor is gone", i, len(links))
		}
	}
	if len(c.chain.tips) > maxTips {
		t.Errorf("%d branches", len(c.chain.tips))
	}
}
