package sim

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
)

// lieLearn has eight natives learn LunarLanderContinuous, where an env-step takes a millisecond, of which some lie.
func lieLearn(t *testing.T, lies *Lies, seed uint64) Learned {
	t.Helper()
	s, err := New(Options{
		Seed: seed, Natives: 8, DelayMin: 1, DelayMax: 1, Upload: 62_500,
		Learning: &Learning{StepNS: 1_000_000, Lies: lies, Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: seed}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Learn(20 * 200)
	if err != nil {
		t.Fatalf("%+v: %v", lies, err)
	}
	return l
}

// TestLiesCostLittle: three of eight natives lie, in every way that is written down. The swarm solves the world
// nevertheless, next to none of what it learns from is false, who lies in the log is found, and each of their
// evaluations costs honest peers less than three. No honest peer is cut off, which the simulator watches.
func TestLiesCostLittle(t *testing.T) {
	const seeds = 5 // runs are short: in one of ten, lies that are found some entries late are a tenth of its log
	for _, kind := range LieKinds() {
		lies := &Lies{Kind: kind, Share: 0.3, Honest: -1}
		if kind == "few" {
			lies.Honest = 8
		}
		var shares []float64
		for seed := uint64(3000); seed < 3000+seeds; seed++ {
			l := lieLearn(t, lies, seed)
			d := l.Lied
			t.Logf("%s: solved %t after %.0f s, %+v", kind, l.Solved, l.Seconds, d)
			if !l.Solved {
				t.Errorf("%s: not solved after %d evaluations, return %.0f", kind, l.Evaluations, l.Mean)
			}
			if d.Lies == 0 || d.Share > 0.1 || d.Cost > 3 || d.Alive > 3 {
				t.Errorf("%s: %d lies, %.3f of the log are, %d of %d false claims live, each evaluation of a faulty peer costs %.1f others", kind, d.Lies, d.Share, d.Alive, d.Claims, d.Cost)
			}
			shares = append(shares, d.Share)
		}
		if slices.Sort(shares); shares[seeds/2] > 0.03 {
			t.Errorf("%s: %.3f of the logs are lies, want 0.03 in most", kind, shares)
		}
	}
}

// TestLiesAreCounted: shares that no swarm has are refused, and so are lies that nobody wrote down.
func TestLiesAreCounted(t *testing.T) {
	for _, lies := range []Lies{{Kind: "white", Share: 0.1}, {Kind: "few"}, {Kind: "few", Share: 1}} {
		if _, err := New(Options{Natives: 4, Learning: &Learning{StepNS: 1, Lies: &lies, Run: runspec.Options{Env: "CartPole-v1"}}}); err == nil {
			t.Errorf("%+v is taken", lies)
		}
	}
}
