package gpu

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestLandings holds the digests to what Go computes, and the calm episodes to landings.
func TestLandings(t *testing.T) {
	for _, run := range []func() (*golden, error){goldenRun, otherRun} {
		g, err := run()
		if err != nil {
			t.Fatal(err)
		}
		testLandings(t, g)
	}
}

func testLandings(t *testing.T, g *golden) {
	t.Helper()
	results, err := rollout.NewPool(g.plan, 0).Evaluate(g.task, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, landed := sha256.New(), 0
	for _, r := range results {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(r.Fitness[0])))
		h.Write(binary.LittleEndian.AppendUint64(nil, r.Steps))
		if r.Fitness[0] > 200*rollout.FitnessOne {
			landed++
		}
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != g.sha256 {
		t.Errorf("the digest of the golden episodes is %s, want %s", sum, g.sha256)
	}
	if calm := g.sha256 == goldenSHA256; calm && landed < goldenCandidates/2 {
		t.Errorf("%d of %d candidates land, want at least half", landed, goldenCandidates)
	}
	results[3].Steps++
	if g.check(results) == nil {
		t.Error("a step too many is not noticed")
	}
}
