package coordinator

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// drawChain draws a chain of entries with claims of a few keys.
func drawChain(t *rapid.T) (chain []*node) {
	n := &node{}
	chain = append(chain, n)
	for range rapid.IntRange(0, 2*votingEntries).Draw(t, "entries") {
		n = &node{parent: n, height: n.height + 1, credits: drawCredits(t)}
		chain = append(chain, n)
	}
	return chain
}

func drawCredits(t *rapid.T) (credits []peerCredit) {
	for p := range byte(6) {
		if rapid.IntRange(0, 2+int(p)*int(p)).Draw(t, "absent") == 0 { // some in most entries, some in hardly any
			credits = append(credits, peerCredit{peer: Peer{p + 1}, Credit: Credit{Steps: rapid.Uint64Range(1, 1<<30).Draw(t, "steps")}})
		}
	}
	return credits
}

// TestVotingWeights compares with the rule, computed in the plainest way: env-steps of the last 50 entries, an eighth
// of them while a key is in fewer than three, at most a third of all.
func TestVotingWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t)
		window := chain[max(1, len(chain)-votingEntries):]
		steps, entries := make(map[Peer]uint64), make(map[Peer]int)
		for _, n := range window {
			for _, credit := range n.credits {
				steps[credit.peer] += credit.Steps
				entries[credit.peer]++
			}
		}
		var total uint64
		for p := range steps {
			if entries[p] < 3 && entries[p] < len(window) {
				steps[p] = (steps[p] + 7) / 8
			}
			total += steps[p]
		}
		for p := range steps {
			steps[p] = min(steps[p], total/3+1)
		}
		if got := recentWeights(chain[len(chain)-1]); !maps.Equal(got, steps) {
			t.Fatalf("got %v, want %v", got, steps)
		}
	})
}

// TestAccountsMove moves accounts about in a tree: they are the same as when counted from nothing.
func TestAccountsMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawChain(t)
		for range rapid.IntRange(0, 40).Draw(t, "more") {
			parent := rapid.SampledFrom(all[len(all)/2:]).Draw(t, "parent")
			all = append(all, &node{parent: parent, height: parent.height + 1, credits: drawCredits(t)})
		}
		var a accounts
		for range 12 {
			n := rapid.SampledFrom(all).Draw(t, "node")
			a.moveTo(n)
			var want accounts
			want.recount(n)
			if a.at != n || a.length != want.length || !maps.Equal(a.of, want.of) {
				t.Fatalf("at height %d: got %d entries of %v, want %d of %v", n.height, a.length, a.of, want.length, want.of)
			}
		}
	})
}

// TestSmallKeysPushNobodyDown: however many keys join with a little work each, a large honest key keeps its work, or a
// third of all, as its voting weight.
func TestSmallKeysPushNobodyDown(t *testing.T) {
	const large, small = 1000, 10
	for _, keys := range []int{1, 10, 50, 400} {
		n := &node{}
		for range votingEntries {
			n = &node{parent: n, height: n.height + 1, credits: []peerCredit{{peer: Peer{1}, Credit: Credit{Steps: large}}}}
			for i := range keys {
				n.credits = append(n.credits, peerCredit{peer: Peer{2, byte(i), byte(i >> 8)}, Credit: Credit{Steps: small}})
			}
		}
		weights := recentWeights(n)
		total := uint64(votingEntries * (large + small*keys))
		if got, least := weights[Peer{1}], min(votingEntries*large, total/3); got < least {
			t.Errorf("with %d small keys the large one weighs %d, want %d of %d", keys, got, least, total)
		}
	}
}

// TestNewcomersWeighLittle: a key counts an eighth, in votes and in the weight of entries, until three of the last
// entries hold its claims.
func TestNewcomersWeighLittle(t *testing.T) {
	s := &swarm{rules: newRules(t, true), now: 1, quiet: true}
	s.add("n1", Config{Hub: true, Timing: LAN(), Slots: 2})
	if err := s.powerUp(s.peers[0]); err != nil {
		t.Fatal(err)
	}
	s.run(200, func() bool { return s.peers[0].coord.chain.head.height >= 10 })
	c := &s.peers[0].coord.chain
	newcomer := keyOf("newcomer")
	parent, state := c.head, c.head.state
	for i, full := range []bool{false, false, false, true, true} {
		var claims []*seedlog.Claim
		for chunk := range uint64(2) {
			results := s.evaluate(s.rules.Task(state, parent.link, seedlog.PeerOf(newcomer), chunk), false)
			claims = append(claims, s.rules.Claim(parent.link, newcomer, chunk, results))
		}
		e, next := s.rules.NewEntry(state, parent.parentInfo(), parent.term, s.peers[0].peer, claims)
		n := c.newNode(parent, s.rules.OwnEntry(e, s.peers[0].key, nil), owned(s.rules, claims))
		want := (e.Steps + 7) / 8
		if full {
			want = e.Steps
		}
		if got := n.weight - parent.weight; got != want {
			t.Errorf("entry %d of a newcomer weighs %d of %d env-steps, want %d", i+1, got, e.Steps, want)
		}
		parent, state = n, next
	}
	second := parent.below(3)
	if votes, steps := recentWeights(second)[seedlog.PeerOf(newcomer)], second.steps-c.head.steps; 8*votes < steps || 7*votes > steps {
		t.Errorf("after two entries a newcomer has the voting weight %d of %d env-steps", votes, steps)
	}
}

func owned(rules *seedlog.Rules, claims []*seedlog.Claim) []seedlog.CheckedClaim {
	checked := make([]seedlog.CheckedClaim, len(claims))
	for i, claim := range claims {
		checked[i] = rules.OwnClaim(claim)
	}
	return slices.Clip(checked)
}
