package coordinator

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// paced is a peer that evaluates so many candidates a tick. Work comes first come, first served, urgent tasks before
// others; a task that has begun is finished.
type paced struct {
	*member
	rate   float64
	budget float64
	done   int // candidates that it evaluated
}

// compute spends a tick.
func (p *paced) compute(s *swarm) {
	p.budget = min(p.budget+p.rate, max(p.rate, 4)) // what a tick leaves is not saved up
	for len(p.tasks) > 0 {
		next := 0
		for i, w := range p.tasks {
			if w.Urgent {
				next = i
				break
			}
		}
		w := p.tasks[next]
		cost := float64(len(w.Task.Seeds))
		if p.budget < cost {
			return
		}
		p.budget -= cost
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
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &swarm{rules: rules, quiet: true, now: 1}
	for i, rate := range natives {
		m := s.add(fmt.Sprintf("n%d", i+1), Config{Hub: true, Timing: LAN(), Slots: 2 + int(2*rate/4), Decisive: 2, Audit: 32})
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
	for range ticks {
		s.now++
		for _, m := range s.peers {
			s.step(m, Passed{})
		}
		s.deliver(func(parcel) bool { return true })
		for _, p := range peers {
			p.compute(s)
		}
	}
	logged = make(map[Peer]uint64)
	for peer, credit := range s.peers[0].coord.chain.credits {
		logged[peer] = credit.Evaluations
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
