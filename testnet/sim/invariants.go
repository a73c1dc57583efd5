package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// inFlight is how many of the newest entries may differ between peers at any moment, because they are on
// their way; where folds take time, as many more are being folded.
const inFlight = 3

// check holds the invariants of the fault matrix against the swarm after its time of calm.
func (s *Swarm) check(healed []uint64) error {
	honest := s.honest()
	if err := s.checkSameHead(); err != nil {
		return fmt.Errorf("I1: %w", err)
	}
	for _, n := range honest {
		if err := s.checkChain(n); err != nil {
			return fmt.Errorf("I2 and I3: node %d: %w", n.index, err)
		}
	}
	if err := s.checkNothingLost(); err != nil {
		return fmt.Errorf("I4: %w", err)
	}
	s.Report.Height = slices.Min(s.heights())
	for i, n := range honest {
		if h := n.coord.Snapshot().Height; h <= healed[i] {
			return fmt.Errorf("I5: node %d stood at height %d when all was healed and stands at %d now", n.index, healed[i], h)
		}
	}
	return nil
}

// checkSameHead (I1): all honest natives are on one chain, but for the newest entries.
func (s *Swarm) checkSameHead() error {
	honest, inFlight := s.honest(), inFlight+uint64(s.opts.Fold)
	common := slices.Min(s.heights())
	if highest := slices.Max(s.heights()); highest > common+inFlight {
		return fmt.Errorf("heights from %d to %d: %v", common, highest, s.heights())
	}
	if common <= inFlight {
		return fmt.Errorf("height %d only", common)
	}
	at := common - inFlight
	for _, n := range honest[1:] {
		if n.disk.chain[at-1] != honest[0].disk.chain[at-1] {
			return fmt.Errorf("nodes %d and %d differ at height %d of %d", honest[0].index, n.index, at, common)
		}
	}
	return nil
}

// checkChain (I2, I3): what is on disk verifies from the genesis, folds to the live state, and holds no false claim.
func (s *Swarm) checkChain(n *node) error {
	state, parent := s.rules.Initial(), seedlog.Parent{Link: s.rules.Run}
	for i, link := range n.disk.chain {
		entry, err := s.rules.CheckEntry(n.disk.blocks[link], n.disk.blocks[n.disk.seals[i]])
		if err != nil {
			return err
		}
		e := entry.Value()
		checked, claims := make([]seedlog.CheckedClaim, len(e.Claims)), make([]*seedlog.Claim, len(e.Claims))
		for j, l := range e.Claims {
			if checked[j], err = s.rules.CheckClaim(n.disk.blocks[l]); err != nil {
				return err
			}
			claims[j] = checked[j].Value()
			if err := s.checkTrue(claims[j]); err != nil {
				return fmt.Errorf("height %d of %d: %w", e.Height, len(n.disk.chain), err)
			}
		}
		if err := s.rules.CheckPlace(entry, parent, checked); err != nil {
			return err
		}
		if state, err = s.rules.Advance(state, e, claims); err != nil {
			return err
		}
		parent = seedlog.Parent{Link: link, Height: e.Height, Term: e.Term}
	}
	live := n.coord.Snapshot()
	if live.Head != parent.Link || live.State.Digest() != state.Digest() || live.State.ThetaDigest() != state.ThetaDigest() {
		return fmt.Errorf("disk folds to another state than the live one at height %d", parent.Height)
	}
	return nil
}

func (s *Swarm) checkTrue(c *seedlog.Claim) error {
	n := uint64(len(c.Steps))
	for i := range c.Steps {
		counter := c.Chunk*n + uint64(i)
		seed := s.rules.Seed(c.Parent, c.Peer, counter)
		fitness, _ := c.At(counter)
		for sign, f := range fitness {
			if f != truth(seed, sign) {
				return fmt.Errorf("%w: counter %d of %s", seedlog.ErrFalseClaim, counter, c.Peer.Short())
			}
		}
	}
	return nil
}

// checkNothingLost (I4): every entry that an honest leader sent out is on some disk, canonical or on a branch.
func (s *Swarm) checkNothingLost() error {
	for link := range s.acknowledged {
		found := false
		for _, n := range s.nodes {
			if _, ok := n.disk.blocks[link]; ok {
				found = true
				break
			}
		}
		if !found {
			return fmt.Errorf("entry %s is on no disk", link)
		}
	}
	return nil
}
