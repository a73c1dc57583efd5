package seedlog

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
)

func TestReplay(t *testing.T) {
	for _, strategy := range []string{"dises", "openai-es"} {
		for _, shared := range []bool{true, false} {
			spec := newSpec(t, strategy)
			spec.Episodes.Shared = shared
			origin := PeerOf(SoloKey(spec))
			spec.Origin = origin[:]
			rules := newRules(t, spec)
			chain, state := newChain(t, rules, 4)
			data := file(rules, chain...)
			_, head := chain[3].entry.Encode()
			for _, check := range []Check{"", CheckLinks, CheckDigests, CheckClaims} {
				seen := uint64(0)
				r, err := Replay(iotest.OneByteReader(bytes.NewReader(data)), ReplayOptions{Check: check, Progress: func(h uint64, offset int64) error {
					if seen++; h != seen {
						t.Errorf("progress at %d, want %d", h, seen)
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				if r.Link != head || r.Height != 4 || r.Truncated || r.End != int64(len(data)) || seen != 4 {
					t.Errorf("%s %s: %+v", strategy, check, r)
				}
				if check == CheckLinks != (r.State == nil) {
					t.Errorf("%s: state %v", check, r.State)
				}
				if r.State != nil && r.State.Digest() != state.Digest() {
					t.Errorf("%s %s: another state", strategy, check)
				}
				if want := 4 * rules.Spec.Generation.Evaluations; r.Evaluations != want || check == CheckClaims && r.Checked != want {
					t.Errorf("%s %s: %d evaluations, %d checked, want %d", strategy, check, r.Evaluations, r.Checked, want)
				}
			}
			for height := uint64(0); height <= 4; height++ {
				r, err := Replay(bytes.NewReader(data), ReplayOptions{At: height, HasAt: true})
				if err != nil {
					t.Fatal(err)
				}
				want := state
				if height < 4 {
					want = chain[height].state
				}
				if r.Height != height || r.State.Digest() != want.Digest() {
					t.Errorf("%s: replay to %d gives height %d or another state", strategy, height, r.Height)
				}
			}
		}
	}
}

// What a visit sees of each generation is what a replay that ends there returns.
func TestReplayVisit(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 3)
	data := file(rules, chain...)
	var seen []Replayed
	if _, err := Replay(bytes.NewReader(data), ReplayOptions{Visit: func(g *Record, at Replayed) error {
		if g.Link != at.Link {
			t.Errorf("height %d: the generation is %s, the replay is at %s", at.Height, g.Link, at.Link)
		}
		seen = append(seen, at)
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	for i, got := range seen {
		want, err := Replay(bytes.NewReader(data), ReplayOptions{At: uint64(i) + 1, HasAt: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Link != want.Link || got.Evaluations != want.Evaluations || got.Steps != want.Steps || got.End != want.End || got.State.Digest() != want.State.Digest() {
			t.Errorf("height %d: %+v, want %+v", i+1, got, *want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d visits, want 3", len(seen))
	}
}

func TestReplayErrors(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 2)
	data := file(rules, chain...)
	key := SoloKey(rules.Spec)
	a := chain[0]

	lied := append([]int64{}, a.claims[1].Fitness...)
	lied[1]--
	lie := NewClaim(rules.Run, rules.Run, key, 1, lied, a.claims[1].Steps)
	claims := []*Claim{a.claims[0], lie}
	falseEntry, _ := rules.NewEntry(a.state, Parent{Link: rules.Run}, 1, rules.Origin, claims)
	falseClaim := file(rules, made{falseEntry, NewSeal(falseEntry, key, nil), claims, nil})

	digest := *a.entry
	digest.Theta = bytes.Clone(digest.Theta)
	digest.Theta[5] ^= 4
	falseDigest := file(rules, made{&digest, NewSeal(&digest, key, nil), a.claims, nil})
	stop := errors.New("stop")

	for _, c := range []struct {
		name string
		data []byte
		opts ReplayOptions
		err  error
	}{
		{"unknown check", data, ReplayOptions{Check: "all"}, nil},
		{"height above the end", data, ReplayOptions{At: 3, HasAt: true}, ErrHeight},
		{"false claim", falseClaim, ReplayOptions{Check: CheckClaims}, ErrFalseClaim},
		{"false digest", falseDigest, ReplayOptions{}, ErrDigest},
		{"stopped", data, ReplayOptions{Progress: func(uint64, int64) error { return stop }}, stop},
		{"stopped by a visit", data, ReplayOptions{Visit: func(*Record, Replayed) error { return stop }}, stop},
		{"fsynced part is gone", data, ReplayOptions{Synced: int64(len(data)) + 1}, ErrTorn},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Replay(bytes.NewReader(c.data), c.opts); err == nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
		})
	}
	if _, err := Replay(bytes.NewReader(falseClaim), ReplayOptions{}); err != nil {
		t.Errorf("a false claim in a consistent log is only found by running it again: %v", err)
	}
	if _, err := Replay(iotest.TimeoutReader(bytes.NewReader(data)), ReplayOptions{}); err != nil && !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("reader's error: %v", err)
	}
	if _, err := Replay(io.MultiReader(bytes.NewReader(data[:900]), iotest.ErrReader(stop)), ReplayOptions{}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

// The head of a run depends on the spec alone, on every target.
func TestGoldenSolo(t *testing.T) {
	for _, strategy := range []string{"dises", "openai-es"} {
		rules := newRules(t, newSpec(t, strategy))
		chain, state := newChain(t, rules, 10)
		_, head := chain[9].entry.Encode()
		theta := state.ThetaDigest()
		golden.Check(t, "solo/"+strategy+"/run", rules.Run.Bytes())
		golden.Check(t, "solo/"+strategy+"/head", head.Bytes())
		golden.Check(t, "solo/"+strategy+"/theta", theta[:])
	}
}

// So does the head of a run of every strategy as it is today.
func TestGoldenStrategies(t *testing.T) {
	for _, method := range evolve.Methods() {
		rules := newRules(t, strategySpec(t, method, newSpec(t, "dises").Policy))
		chain, state := newChain(t, rules, 5)
		_, head := chain[4].entry.Encode()
		r, err := Replay(bytes.NewReader(file(rules, chain...)), ReplayOptions{Check: CheckClaims})
		if err != nil {
			t.Fatalf("%s: %v", method.Name, err)
		}
		if r.Link != head || r.State.Digest() != state.Digest() {
			t.Errorf("%s: replay gives another head or state", method.Name)
		}
		golden.Check(t, "strategies/"+method.Name, head.Bytes())
	}
}
