package seedlog

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// BenchmarkReplay compares the replay of a log with the bare updates in it, for every strategy: MLP 16-16
// on CartPole-v1 (386 parameters) and, for those that can, MLP 64-64 (4,610), with 256 evaluations a generation.
// "times-bare" is their ratio, "bytes/eval" what an evaluation adds to the log. The fitness is invented: replay does
// not look at whether it is true.
func BenchmarkReplay(b *testing.B) {
	for _, m := range evolve.Methods() {
		for _, width := range []uint64{16, 64} {
			if width == 64 && (m.Name == "cma-es" || m.Name == "xnes") {
				continue // more than their limit
			}
			b.Run(fmt.Sprintf("%s/%d-%d", m.Name, width, width), func(b *testing.B) { benchmarkReplay(b, m, width) })
		}
	}
}

func benchmarkReplay(b *testing.B, m evolve.Method, width uint64) {
	const generations, evaluations = 20, 256
	rules := inventedRules(b, m, width, evaluations)
	log, batches := invent(rules, generations)
	var bare time.Duration
	for b.Loop() {
		if _, err := Replay(bytes.NewReader(log), ReplayOptions{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		start, state := time.Now(), rules.Initial()
		for _, results := range batches {
			state = rules.Strategy.Apply(state, results)
		}
		bare += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(bare), "times-bare")
	b.ReportMetric(float64(len(log))/(generations*evaluations), "bytes/eval")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*generations)*1e3, "ms/generation")
}

func inventedRules(b *testing.B, m evolve.Method, width, evaluations uint64) *Rules {
	params, err := m.Complete(nil)
	if err != nil {
		b.Fatal(err)
	}
	spec := newSpec(b, "dises")
	spec.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{width, width}, Activation: "tanh", Bias: true, Head: "argmax"}
	spec.Strategy = StrategyRef{Name: m.Name, Revision: m.Revision, Params: params}
	spec.Generation = Generation{Evaluations: evaluations, Chunk: evaluations / 2, Quota: 2, WeightSteps: 1 << 30}
	origin := PeerOf(SoloKey(spec))
	spec.Origin = origin[:]
	rules, err := NewRules(spec)
	if err != nil {
		b.Fatal(err)
	}
	if rules.Signs() == 1 {
		spec.Generation.Chunk = min(evaluations, MaxChunk)
		origin = PeerOf(SoloKey(spec))
		spec.Origin = origin[:]
		if rules, err = NewRules(spec); err != nil {
			b.Fatal(err)
		}
	}
	return rules
}

// invent writes a log of that many generations, and returns their results too.
func invent(rules *Rules, generations int) (log []byte, batches [][]evolve.Result) {
	log = rules.AppendBeginning(nil)
	key, state, parent := SoloKey(rules.Spec), rules.Initial(), Parent{Link: rules.Run}
	draw := noise.NewStream(1, noise.DomainEpisode)
	for range generations {
		var claims []*Claim
		for k := range rules.Spec.Generation.Evaluations / rules.EvaluationsPerChunk() {
			results := make([]rollout.CandidateResult, rules.Spec.Generation.Chunk)
			for i := range results {
				results[i].Steps = uint64(draw.IntN(10, 500)) * uint64(rules.Signs())
				for sign := range rules.Signs() {
					results[i].Fitness[sign] = draw.IntN(10, 500) * rollout.FitnessOne
				}
			}
			claims = append(claims, rules.Claim(parent.Link, key, k, results))
		}
		batches = append(batches, rules.Results(parent.Link, claims))
		entry, next := rules.NewEntry(state, parent, 1, rules.Origin, claims)
		log = AppendGeneration(log, entry, NewSeal(entry, key, nil), claims)
		_, link := entry.Encode()
		state, parent = next, Parent{Link: link, Height: entry.Height, Term: entry.Term}
	}
	return log, batches
}
