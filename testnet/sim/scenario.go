package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// New makes the swarm of a scenario, with all nodes powered up and linked.
func New(o Options) (*Swarm, error) {
	s := &Swarm{opts: o, rng: noise.NewStream(o.Seed, drawNetwork), queue: make(queue), byPeer: make(map[coordinator.Peer]*node), online: newOnline(o.Natives + o.Tabs)}
	for i := range o.Natives {
		n := s.newNode(i, coordinator.Native)
		n.faulty = i >= o.Natives-o.Faulty
		s.nodes = append(s.nodes, n)
	}
	for i := range o.Tabs {
		s.nodes = append(s.nodes, s.newNode(o.Natives+i, coordinator.Tab))
	}
	for _, n := range s.nodes {
		s.byPeer[n.peer] = n
	}
	var trust []coordinator.Peer
	if o.Trusted {
		for _, n := range s.nodes {
			trust = append(trust, n.peer)
		}
		slices.SortFunc(trust, coordinator.Peer.Compare)
	}
	spec, err := newSpec(o, s.nodes[0].peer, trust)
	if err != nil {
		return nil, err
	}
	if s.rules, err = seedlog.NewRules(spec); err != nil {
		return nil, err
	}
	if o.Learning != nil {
		if s.world, err = newWorld(o.Learning, s.rules); err != nil {
			return nil, err
		}
	}
	s.checker, s.library = seedlog.NewChecker(s.rules), newLibrary(s.rules)
	s.newNetwork()
	free := o.Natives - o.Faulty
	attacks := o.Attacks
	if o.Stranger > 0 {
		attacks = append([]Attack{{New: func() Adversary { return NewStranger(o.Stranger, o.Forges) }, Rate: 1 + o.Stranger/4, Until: o.Ticks}}, attacks...)
	}
	if o.Learning != nil && o.Learning.Lies != nil {
		attack, err := o.Learning.Lies.attack(o.Natives)
		if err != nil {
			return nil, err
		}
		attacks, s.lies = append(attacks, attack), newLieBook()
	}
	for i, attack := range attacks {
		a := s.newActor(i, attack)
		for range attack.Owns {
			free--
			s.nodes[free].owner = a
			if s.lies != nil {
				s.lies.key(s.nodes[free].peer)
			}
		}
		s.actors = append(s.actors, a)
	}
	for _, n := range s.nodes {
		if at := s.comes(n); at > 0 {
			s.at(at, func() {
				if err := s.powerUp(n); err != nil {
					s.fail("%w", err)
				}
			})
		} else if err := s.powerUp(n); err != nil {
			return nil, err
		}
	}
	return s, s.err
}

// comes is when a node starts: natives at once, tabs one after the other.
func (s *Swarm) comes(n *node) coordinator.Tick {
	tab := n.index - s.opts.Natives
	if tab < 0 || s.opts.TabsWithin == 0 {
		return 0
	}
	return s.opts.TabsFrom + s.opts.TabsWithin*coordinator.Tick(tab)/coordinator.Tick(s.opts.Tabs)
}

// maxStale and spotChecks are what runs of format 2 have here: the rates of production.
const maxStale = 12

var spotChecks = seedlog.SpotChecks{First: 1, Share: 32}

// stateQuota is how many generations a peer may do on one state.
const stateQuota = 8

// generationMS is how long a generation lasts at least.
const generationMS = 250

// claimBatch is how many claims a batch names: so few that entries of small swarms name several.
const claimBatch = 3

// bestState has states evaluated so often that short runs have several.
var bestState = seedlog.BestState{Every: maxStale + 4, Results: 16}

func newSpec(o Options, origin coordinator.Peer, trust []coordinator.Peer) (*seedlog.Spec, error) {
	if o.Learning != nil {
		run := o.Learning.Run
		run.Trust = trust
		run.Nonce, run.Origin, run.StepNS = [16]byte{1}, origin, o.Learning.StepNS
		return runspec.NewSpec(run)
	}
	name := "dises"
	if o.Format2 {
		name = "snes"
	}
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
	spec := &seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: name, Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 8, Open: true, Chunk: 4, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Seed:       o.Seed, Origin: origin[:], Nonce: nonce,
	}
	if o.Format2 {
		spec.Format, spec.SpotChecks, spec.Generation.MaxStale = seedlog.Format2, &spotChecks, maxStale
		spec.Generation.Chunk, spec.Generation.Quota = 1, stateQuota*spec.Generation.Evaluations
	}
	if o.Trusted {
		spec.Format, spec.SpotChecks, spec.Trust = seedlog.Format2, nil, trust
	}
	if spec.Format == seedlog.Format2 {
		spec.Generation.Duration, spec.Generation.Batch, spec.Best = generationMS, claimBatch, &bestState
	}
	return spec, nil
}

// Run plays a scenario to its end and checks the invariants.
func Run(o Options) (Report, error) {
	s, err := New(o)
	if err == nil {
		s.plan()
		err = s.run(o.Ticks)
	}
	if err == nil {
		err = s.Settle(o.Calm)
	}
	if s == nil {
		return Report{}, err
	}
	if err != nil {
		s.describe()
		err = fmt.Errorf("%v: %w", o, err)
	}
	return s.Report, err
}

// describe tells a reader how every node stands.
func (s *Swarm) describe() {
	for _, n := range s.nodes {
		if n.coord == nil {
			s.trace("node %d has no power", n.index)
			continue
		}
		v := n.coord.Snapshot()
		s.trace("node %d: height %d, role %d in term %d under %s, %d of %d to fold, busy until %d, %d events held, %d urgent tasks and %d others, %d messages to check, links to %d hubs and %d leaves",
			n.index, v.Height, v.Role, v.Term, s.name(v.Leader), v.Behind, v.BehindOf, n.busy, len(n.held), len(n.work.urgent), len(n.work.ordered), n.checks.waiting, len(n.hubs), len(n.leaves))
	}
	s.trace("largest tables: %v", s.online.largest)
}

// heights of the honest natives that have power.
func (s *Swarm) heights() []uint64 {
	var h []uint64
	for _, n := range s.honest() {
		if n.coord != nil {
			h = append(h, n.coord.Snapshot().Height)
		}
	}
	return h
}

// honest natives.
func (s *Swarm) honest() []*node {
	var nodes []*node
	for _, n := range s.nodes {
		if n.hub() && n.honest() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
