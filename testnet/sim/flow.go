package sim

import (
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
)

// Flow says what passes through the machines of a swarm, per second of virtual time.
type Flow struct {
	Seconds     float64 // that were measured
	Entries     float64 // per second
	Claims      float64 // in the log, per second
	Evaluations float64 // in the log, per second
	Logged      float64 // part of what all machines can compute in the time: it is in the log
	Keys        float64 // that logged something for the first time, per second
	Light       float64 // part of the tabs that follow without claims, at the end

	TabUp, TabDown, TabDownMost float64 // bytes/s of a tab: median, median, and the most of all
	HubUp, HubDown, HubUpMost   float64 // bytes/s of a hub: median, median, and the most of all
	LeaderUp, LeaderDown        float64 // bytes/s of the leader

	Checked float64 // signatures/s that the leader has to verify
	Spent   float64 // seconds of processor time/s in the coordinator of the leader; 0: there is no clock
}

// reading is what a node had sent, got and taken by then.
type reading struct {
	up, down, signatures uint64
	spent                int64
}

func (s *Swarm) read(n *node) reading {
	return reading{total(n.traffic.out, 0), total(n.traffic.in, 0), n.traffic.signatures, n.spent}
}

// Measure has the swarm run for some ticks, and says what passed through its machines. The clock is in nanoseconds, of
// this computer; nil: none.
func (s *Swarm) Measure(ticks coordinator.Tick, clock func() int64) (Flow, error) {
	s.clock = clock
	begun, before := s.now, make([]reading, len(s.nodes))
	for i, n := range s.nodes {
		before[i] = s.read(n)
	}
	first, claims := s.highest(), s.Report.Claims
	var leads reading
	for s.now < begun+ticks && s.err == nil {
		i := s.Leader()
		if i < 0 {
			i = 0
		}
		was := s.read(s.nodes[i])
		if s.run(s.now+1) != nil {
			break
		}
		is := s.read(s.nodes[i])
		leads.up, leads.down = leads.up+is.up-was.up, leads.down+is.down-was.down
		leads.signatures, leads.spent = leads.signatures+is.signatures-was.signatures, leads.spent+is.spent-was.spent
	}
	last, seconds := s.highest(), float64(s.now-begun)*tickNS/1e9
	f := Flow{
		Seconds: seconds, Entries: float64(last.Height-first.Height) / seconds, Claims: float64(s.Report.Claims-claims) / seconds,
		Evaluations: float64(last.Evaluations-first.Evaluations) / seconds, Logged: float64(last.Steps-first.Steps) / (seconds * s.stepsPerSecond()),
		LeaderUp: float64(leads.up) / seconds, LeaderDown: float64(leads.down) / seconds,
		Checked: float64(leads.signatures) / seconds, Spent: float64(leads.spent) / 1e9 / seconds,
		Keys: float64(last.Credits-first.Credits) / seconds, Light: s.light(),
	}
	var up, down [2][]float64 // of hubs, of tabs
	for i, n := range s.nodes {
		r, kind := s.read(n), 0
		if !n.hub() {
			kind = 1
		}
		up[kind] = append(up[kind], float64(r.up-before[i].up)/seconds)
		down[kind] = append(down[kind], float64(r.down-before[i].down)/seconds)
	}
	f.HubUp, f.HubUpMost = middle(up[0])
	f.HubDown, _ = middle(down[0])
	f.TabUp, _ = middle(up[1])
	f.TabDown, f.TabDownMost = middle(down[1])
	return f, s.err
}

// light is the part of the tabs that are here which follow without claims.
func (s *Swarm) light() float64 {
	light, tabs := 0, 0
	for _, n := range s.nodes {
		if n.coord != nil && !n.hub() {
			tabs++
			if n.coord.Light() {
				light++
			}
		}
	}
	return float64(light) / float64(max(tabs, 1))
}

// middle returns the median and the largest of values; 0 of none.
func middle(values []float64) (median, most float64) {
	if len(values) == 0 {
		return 0, 0
	}
	slices.Sort(values)
	return values[len(values)/2], values[len(values)-1]
}

// stepsPerSecond is how many env-steps all machines that are here do in a second.
func (s *Swarm) stepsPerSecond() (rate float64) {
	for _, n := range s.nodes {
		if n.coord == nil {
			continue
		}
		rate += float64(n.rate) / tickNS * 1e9 / float64(s.world.stepNS)
	}
	return rate
}
