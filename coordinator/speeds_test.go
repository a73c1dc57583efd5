package coordinator

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// paced is a peer that evaluates so many candidates a tick. Work comes first come, first served, urgent tasks before
// others; a task that has begun is finished.
type paced struct {
	*member
	rate   float64
	budget float64 // of this tick; below 0 a task takes longer
	done   int     // candidates that it evaluated
}

// compute spends a tick.
func (p *paced) compute(s *swarm) {
	p.budget = min(p.budget, 0) + p.rate // what a tick leaves is not saved up; what a task took more is paid later
	for len(p.tasks) > 0 && p.budget > 0 {
		next := 0
		for i, w := range p.tasks {
			if w.Urgent {
				next = i
				break
			}
		}
		w := p.tasks[next]
		p.budget -= float64(len(w.Task.Seeds))
		p.done += len(w.Task.Seeds)
		p.tasks = append(p.tasks[:next:next], p.tasks[next+1:]...)
		if p.coord.work.jobs[w.ID] != nil {
			s.step(p.member, Evaluated{ID: w.ID, Results: s.evaluate(w.Task, false)})
		}
	}
}

// speeds runs peers of different speed for some ticks and returns them with the evaluations that each has in the log.
func speeds(t testing.TB, ticks int, quota uint64, natives, tabs []float64) (peers []*paced, logged map[Peer]uint64) {
	t.Helper()
	spec := *newRules(t, true).Spec
	spec.Generation = seedlog.Generation{Evaluations: 64, Open: true, Chunk: 4, Quota: quota, WeightSteps: 1 << 20}
	return runSpeeds(t, &spec, 0, ticks, natives, tabs)
}

// nextFormat makes a spec one of format 2: claims may be up to so many entries old, and one of 32 results is re-run.
func nextFormat(t testing.TB, spec *seedlog.Spec, stale uint64) *seedlog.Spec {
	t.Helper()
	method, err := evolve.Find("snes")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	next := *spec
	next.Format, next.SpotChecks = seedlog.Format2, &seedlog.SpotChecks{First: 1, Share: 32}
	next.Strategy = seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: params}
	next.Generation.MaxStale, next.Generation.Duration = stale, 250
	next.Generation.Batch = 3                // so few that entries name several
	next.Nonce = bytes.Repeat([]byte{3}, 16) // a run in which no leader hands over as the tests of lies begin
	return &next
}

// runSpeeds is speeds for any spec; what was logged in the first ticks, warm, is left out.
func runSpeeds(t testing.TB, spec *seedlog.Spec, warm, ticks int, natives, tabs []float64) (peers []*paced, logged map[Peer]uint64) {
	t.Helper()
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &swarm{rules: rules, quiet: true, now: 1}
	for i, rate := range natives {
		m := s.add(fmt.Sprintf("n%d", i+1), Config{Hub: true, Timing: LAN(), Slots: 2 + int(2*rate/float64(spec.Generation.Chunk)), Decisive: 2, Audit: 32})
		peers = append(peers, &paced{member: m, rate: rate})
	}
	for i, rate := range tabs {
		m := s.add(fmt.Sprintf("t%d", i+1), Config{Kind: Tab, Timing: LAN(), Slots: 2})
		m.hub = s.peers[i%len(natives)]
		peers = append(peers, &paced{member: m, rate: rate})
	}
	for _, m := range s.peers {
		if err := s.powerUp(m); err != nil {
			t.Fatal(err)
		}
	}
	logged = make(map[Peer]uint64)
	for tick := range warm + ticks {
		if tick == warm {
			for peer, credit := range s.peers[0].coord.chain.credits {
				logged[peer] -= credit.Evaluations
			}
		}
		s.now++
		for _, m := range s.peers {
			s.step(m, Passed{})
		}
		s.deliver(func(parcel) bool { return true })
		for _, p := range peers {
			p.compute(s)
		}
	}
	for peer, credit := range s.peers[0].coord.chain.credits {
		logged[peer] += credit.Evaluations
	}
	return peers, logged
}

// shares are the evaluations in the log of the fast peer (the last native), of the slowest tab, and of all.
func shares(peers []*paced, logged map[Peer]uint64, natives int) (fast, slowest, total uint64) {
	slowest = logged[peers[natives].peer]
	for i, p := range peers {
		total += logged[p.peer]
		if i >= natives {
			slowest = min(slowest, logged[p.peer])
		}
	}
	return logged[peers[natives-1].peer], slowest, total
}

// TestUnequalSpeeds: next to a peer that is 100 times as fast as a tab, every tab still has work in the log, and most
// of the log is the work of the fast peer.
func TestUnequalSpeeds(t *testing.T) {
	peers, logged := speeds(t, 1200, 256, []float64{8, 8, 100}, []float64{1, 1})
	fast, slowest, total := shares(peers, logged, 3)
	for _, p := range peers {
		t.Logf("%s at %v a tick: %d evaluations logged, %d computed", p.name, p.rate, logged[p.peer], p.done)
	}
	if slowest < 8 {
		t.Errorf("the slowest peer has %d evaluations in the log, want two claims at least", slowest)
	}
	if 2*fast < total {
		t.Errorf("the fast peer has %d of %d evaluations in the log, want most of them", fast, total)
	}
}

// BenchmarkUnequalSpeeds gives the table in docs/spec/protocol.md: evaluations in the log per tick, of all, of the fast
// peer and of a tab.
func BenchmarkUnequalSpeeds(b *testing.B) {
	for _, rate := range []float64{8, 100, 1000} {
		b.Run(fmt.Sprintf("fast=%v", rate), func(b *testing.B) {
			for b.Loop() {
				const ticks = 2400
				peers, logged := speeds(b, ticks, 256, []float64{8, 8, rate}, []float64{1, 1})
				fast, slowest, total := shares(peers, logged, 3)
				b.ReportMetric(float64(total)/ticks, "evals/tick")
				b.ReportMetric(float64(fast)/ticks, "fast/tick")
				b.ReportMetric(float64(slowest)/ticks, "tab/tick")
			}
		})
	}
}

// BenchmarkEqualPeers measures what a swarm of equal peers logs: evaluations a tick, and over what they could do at
// most. format=1 is what there was; stale is how many entries old a claim may be.
func BenchmarkEqualPeers(b *testing.B) {
	for _, stale := range []uint64{0, 4} {
		for _, format := range []int{1, 2} {
			if format == 1 && stale > 0 {
				continue
			}
			for _, n := range []int{1, 2, 4, 8, 16} {
				b.Run(fmt.Sprintf("format=%d/stale=%d/peers=%d", format, stale, n), func(b *testing.B) {
					const warm, ticks, rate = 200, 400, 16
					spec := *equalSpec(b, stale)
					if format == 1 {
						spec.Format, spec.SpotChecks, spec.Generation.Duration = seedlog.Format1, nil, 0
					}
					rates := make([]float64, n)
					for i := range rates {
						rates[i] = rate
					}
					for b.Loop() {
						_, logged := runSpeeds(b, &spec, warm, ticks, rates, nil)
						total := uint64(0)
						for _, evaluations := range logged {
							total += evaluations
						}
						b.ReportMetric(float64(total)/ticks, "evals/tick")
						b.ReportMetric(float64(total)/(ticks*rate*float64(n)), "of-possible")
					}
				})
			}
		}
	}
}
