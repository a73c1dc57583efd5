package sim

import (
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// New makes the swarm of a scenario, with all nodes powered up.
func New(o Options) (*Swarm, error) {
	s := &Swarm{opts: o, rng: noise.NewStream(o.Seed, drawNetwork), acknowledged: make(map[seedlog.Link]bool), side: make([]bool, o.Natives)}
	for i := range o.Natives {
		n := s.newNode(i, coordinator.Native)
		n.faulty = i >= o.Natives-o.Faulty
		s.nodes = append(s.nodes, n)
	}
	for i := range o.Tabs {
		n := s.newNode(o.Natives+i, coordinator.Tab)
		n.hub = s.below(o.Natives)
		s.nodes = append(s.nodes, n)
	}
	spec, err := newSpec(o, s.nodes[0].peer)
	if err != nil {
		return nil, err
	}
	if s.rules, err = seedlog.NewRules(spec); err != nil {
		return nil, err
	}
	s.checker = seedlog.NewChecker(s.rules)
	for _, n := range s.nodes {
		if err := s.powerUp(n); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newSpec(o Options, origin coordinator.Peer) (*seedlog.Spec, error) {
	name := "dises"
	if o.Antithetic {
		name = "openai-es"
	}
	// A revision that stays, so that a seed means the same swarm tomorrow.
	method, err := evolve.FindRevision(name, 1)
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(nil)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, 16)
	nonce[0] = 1
	return &seedlog.Spec{
		Format: seedlog.Format, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: name, Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 8, Open: true, Chunk: 4, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Seed:       o.Seed, Origin: origin[:], Nonce: nonce,
	}, nil
}

// Run plays a scenario to its end and checks the invariants.
func Run(o Options) (Report, error) {
	s, err := New(o)
	if err != nil {
		return Report{}, err
	}
	if err := s.trouble(); err != nil {
		return s.Report, fmt.Errorf("%v: %w", o, err)
	}
	s.calm, s.split = true, false
	for _, n := range s.nodes {
		if n.coord == nil {
			if err := s.powerUp(n); err != nil {
				return s.Report, fmt.Errorf("%v: %w", o, err)
			}
		}
	}
	healed := s.heights()
	if err := s.run(s.now + o.Calm); err != nil {
		return s.Report, fmt.Errorf("%v: %w", o, err)
	}
	if err := s.check(healed); err != nil {
		return s.Report, fmt.Errorf("%v: %w", o, err)
	}
	return s.Report, nil
}

// trouble spreads the scenario's faults over its time.
func (s *Swarm) trouble() error {
	o := s.opts
	crashes, partitions := o.Crashes, o.Partitions
	slots := max(crashes+partitions, 1)
	for i := range slots {
		if err := s.run(o.Ticks * coordinator.Tick(2*i+1) / coordinator.Tick(2*slots)); err != nil {
			return err
		}
		if crashes > 0 && (partitions == 0 || s.below(2) == 0) {
			crashes--
			if err := s.crash(); err != nil {
				return err
			}
		} else if partitions > 0 {
			partitions--
			s.divide()
		}
		if err := s.run(o.Ticks * coordinator.Tick(2*i+2) / coordinator.Tick(2*slots)); err != nil {
			return err
		}
		s.split = false
	}
	return s.run(o.Ticks)
}

// crash takes the power from a node, and gives it back to one that was crashed before.
func (s *Swarm) crash() error {
	for _, n := range s.nodes {
		if n.coord == nil {
			if err := s.powerUp(n); err != nil {
				return err
			}
			break
		}
	}
	victim := s.nodes[s.below(len(s.nodes))]
	if s.opts.KillLeader {
		for _, n := range s.nodes {
			if n.coord != nil && n.coord.Snapshot().Role == coordinator.Leader {
				victim = n
			}
		}
	}
	if victim.coord != nil {
		s.powerDown(victim)
	}
	return nil
}

// divide splits the natives in two at random.
func (s *Swarm) divide() {
	s.split = true
	for i := range s.side {
		s.side[i] = s.below(2) == 0
	}
}

// heights of the honest natives.
func (s *Swarm) heights() []uint64 {
	var h []uint64
	for _, n := range s.honest() {
		h = append(h, n.coord.Snapshot().Height)
	}
	return h
}

// honest natives.
func (s *Swarm) honest() []*node {
	var nodes []*node
	for _, n := range s.nodes {
		if n.kind == coordinator.Native && !n.faulty {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
