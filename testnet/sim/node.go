package sim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// node is one peer: a coordinator while it has power, and its disk.
type node struct {
	index  int
	key    ed25519.PrivateKey
	peer   coordinator.Peer
	kind   coordinator.Kind
	faulty bool
	hub    int              // for tabs: the native it is attached to
	speed  coordinator.Tick // that a piece of work takes
	fold   coordinator.Tick // that folding an entry takes

	offline coordinator.Tick // until when nothing reaches it or leaves it

	disk  *disk
	coord *coordinator.Coordinator // nil: no power
	lives int                      // power-ups so far; messages to an earlier life are lost
	work  map[uint64]bool          // evaluations and folds under way
}

func (s *Swarm) newNode(i int, kind coordinator.Kind) *node {
	seed := sha256.Sum256(fmt.Appendf(nil, "evoswarm/sim/key %d %d", s.opts.Seed, i))
	key := ed25519.NewKeyFromSeed(seed[:])
	n := &node{index: i, key: key, peer: seedlog.PeerOf(key), kind: kind, disk: newDisk(), speed: coordinator.Tick(1 + s.below(3))}
	if s.opts.Fold > 0 {
		n.fold = coordinator.Tick(s.below(s.opts.Fold + 1))
	}
	return n
}

// powerUp starts the coordinator from what the disk holds.
func (s *Swarm) powerUp(n *node) error {
	decisive, audit := 2, 1024
	if n.kind == coordinator.Tab {
		decisive, audit = 0, 0
	}
	if n.faulty {
		decisive, audit = 0, 0
	}
	c, err := coordinator.New(coordinator.Config{
		Rules: s.rules, Key: n.key, Kind: n.kind, Hub: n.kind == coordinator.Native, Timing: coordinator.LAN(), Archive: n.disk,
		Seed: s.rng.Uint64(), Slots: 1, Decisive: decisive, Audit: audit, Mandate: s.opts.Mandate,
		State: n.disk.state, Chain: n.disk.chain, Seals: n.disk.seals,
	})
	if err != nil {
		return fmt.Errorf("node %d: %w", n.index, err)
	}
	n.coord, n.work = c, make(map[uint64]bool)
	n.lives++
	for _, other := range s.nodes {
		if other != n && other.coord != nil && s.linked(n, other) {
			s.step(n, coordinator.Linked{Peer: other.peer})
			s.step(other, coordinator.Linked{Peer: n.peer})
		}
	}
	return nil
}

// powerDown takes the power away: whatever was not saved is lost.
func (s *Swarm) powerDown(n *node) {
	n.coord = nil
	for _, other := range s.nodes {
		if other.coord != nil && s.linked(n, other) {
			s.step(other, coordinator.Unlinked{Peer: n.peer})
		}
	}
}

// truth is the synthetic fitness of one perturbation: a hash of its seed and sign.
func truth(seed uint64, sign int) int64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte{byte(sign)}, seed))
	return int64(binary.LittleEndian.Uint32(sum[:4])) << 8
}

// evaluate answers a task; a faulty node inflates its own results.
func (s *Swarm) evaluate(t rollout.Task, inflate bool) []rollout.CandidateResult {
	results := make([]rollout.CandidateResult, len(t.Seeds))
	for i, seed := range t.Seeds {
		signs := s.rules.Signs()
		for sign := range signs {
			results[i].Fitness[sign] = truth(seed, sign)
		}
		if inflate {
			results[i].Fitness[0] += 1 << 50
		}
		results[i].Steps = uint64(signs) * (10 + seed%400)
	}
	return results
}
