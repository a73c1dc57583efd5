package coordinator

import (
	"crypto/ed25519"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestEntriesFitTheirPlace has a leader sign entries whose digests are right and that do not fit where they are put:
// nobody takes them into its tree.
func TestEntriesFitTheirPlace(t *testing.T) {
	f := newField(t, 2, 0)
	f.pass(100)
	by, c := f.leader(), f.peers[0].coord
	head := c.chain.head
	keys := []ed25519.PrivateKey{f.peers[0].key, f.peers[1].key}
	for _, test := range []struct {
		name   string
		claims func([]*seedlog.Claim) []*seedlog.Claim
		edit   func(*seedlog.Entry)
		fits   bool
	}{
		{name: "as it should be", fits: true},
		{name: "a claim twice", claims: func(all []*seedlog.Claim) []*seedlog.Claim { return append(all[:1:1], all...) }},
		{name: "claims out of order", claims: func(all []*seedlog.Claim) []*seedlog.Claim { return append(all[2:4:4], all[:2]...) }},
		{name: "a chunk left out", claims: func(all []*seedlog.Claim) []*seedlog.Claim { return all[1:] }},
		{name: "too few claims", claims: func(all []*seedlog.Claim) []*seedlog.Claim { return all[:1] }},
		{name: "no claims", claims: func([]*seedlog.Claim) []*seedlog.Claim { return nil }},
		{name: "too much work stated", edit: func(e *seedlog.Entry) { e.Steps++ }},
		{name: "another height", edit: func(e *seedlog.Entry) { e.Height++ }},
		{name: "an earlier term", edit: func(e *seedlog.Entry) { e.Term = head.term - 1 }},
		{name: "the last term that may follow", edit: func(e *seedlog.Entry) { e.Term = head.term + seedlog.MaxTermStep }, fits: true},
		{name: "a term too far", edit: func(e *seedlog.Entry) { e.Term = head.term + seedlog.MaxTermStep + 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			claims := f.trueClaims(head.link, head.state, keys)
			if test.claims != nil {
				claims = test.claims(claims)
			}
			e, _ := f.rules.NewEntry(head.state, head.parentInfo(), head.term, by.peer, claims)
			if test.edit != nil {
				test.edit(e)
			}
			checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: []Generation{f.generation(e, by.key, claims)}}, nil)
			if err == nil {
				_, err = c.insert(checked.generations[0], source{key: by.peer})
			}
			if fits := err == nil; fits != test.fits {
				t.Errorf("fits %t, want %t: %v", fits, test.fits, err)
			}
		})
	}
}

// TestLeadersSignWhatFits: whatever claims a leader holds, what it picks of them makes an entry that others accept. It
// picks all that may be in it: of each peer the chunks up to the first that is missing.
func TestLeadersSignWhatFits(t *testing.T) {
	f := newField(t, 1, 0)
	leader := f.peers[0]
	rapid.Check(t, func(t *rapid.T) {
		pool, root := newPool(f.rules), leader.coord.chain.root
		want := 0
		for i := range 6 {
			gap := false
			for chunk := range f.rules.Spec.Generation.Quota {
				if rapid.IntRange(0, 2).Draw(t, "missing") == 0 {
					gap = true
					continue
				}
				key := junkKeys[i]
				claim := f.junkClaim(key, f.rules.Run, chunk)
				p := &pooled{claim: claim, on: root, good: true, rank: claimRank(f.rules.Run, seedlog.PeerOf(key))}
				pool.known.Put(p.key(), source{key: seedlog.PeerOf(key)}, 1, p)
				if !gap {
					want++
				}
			}
		}
		picked := pool.closable(f.rules, root)
		if full := want*int(f.rules.EvaluationsPerChunk()) >= int(f.rules.Spec.Generation.Evaluations); !full {
			want = 0
		}
		if len(picked) != want {
			t.Fatalf("%d claims picked, want %d", len(picked), want)
		}
		if want == 0 {
			return
		}
		claims := make([]seedlog.CheckedClaim, len(picked))
		for i, p := range picked {
			claims[i] = p.claim
		}
		e := f.rules.EntryOf(seedlog.Parent{Link: f.rules.Run}, 1, leader.peer, claims, [32]byte{}, [32]byte{})
		if err := f.rules.CheckPlace(f.rules.OwnEntry(e, leader.key, nil), seedlog.Parent{Link: f.rules.Run}, claims); err != nil {
			t.Fatal(err)
		}
	})
}
