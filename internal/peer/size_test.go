package peer

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestSizes holds what a generation of four peers costs: an entry under 1 KB, and under 16 bytes sent per evaluation,
// the announcement of the claim included.
func TestSizes(t *testing.T) {
	for _, strategy := range []string{"dises", "openai-es"} {
		t.Run(strategy, func(t *testing.T) {
			claims, rules := generationOf(t, strategy, 4)
			state := rules.Initial()
			entry, _ := rules.NewEntry(state, seedlog.Parent{Link: rules.Run}, 1, claims[0].Peer, claims)
			entryData, link := entry.Encode()
			sent := 0
			for _, c := range claims {
				data, claimLink := c.Encode()
				best, _ := c.Best()
				digest := coordinator.EncodeMessage(&coordinator.Inventory{Parent: link, Items: []coordinator.InventoryItem{{Claim: claimLink, Best: best, Seed: 1 << 63}}})
				reply := coordinator.EncodeMessage(&coordinator.Claims{Blocks: [][]byte{data}})
				sent += len(reply) + len(digest)
				t.Logf("claim %d bytes for %d evaluations, announced with %d", len(reply), c.Evaluations(), len(digest))
			}
			perEvaluation := float64(sent) / float64(entry.Evaluations)
			t.Logf("entry %d bytes for %d claims; %.1f bytes per evaluation", len(entryData), len(claims), perEvaluation)
			if len(entryData) > 1024 {
				t.Errorf("got an entry of %d bytes, want at most 1024", len(entryData))
			}
			if perEvaluation >= 16 {
				t.Errorf("got %.1f bytes per evaluation, want under 16", perEvaluation)
			}
		})
	}
}

// generationOf measures a whole generation of a swarm's run: every peer adds all that its quota allows.
func generationOf(t *testing.T, strategy string, peers int) ([]*seedlog.Claim, *seedlog.Rules) {
	t.Helper()
	spec, err := runspec.NewSpec(runspec.Options{Format: seedlog.Format1, Env: "CartPole-v1", Strategy: strategy, Nonce: [16]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	pool := rollout.NewPool(rules.Plan, 1)
	var claims []*seedlog.Claim
	for i := range peers {
		key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
		own, err := rules.Measure(pool, rules.Initial(), rules.Run, key, spec.Generation.Quota, func() bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, own...)
	}
	slices.SortStableFunc(claims, func(a, b *seedlog.Claim) int { return a.Peer.Compare(b.Peer) })
	return claims, rules
}
