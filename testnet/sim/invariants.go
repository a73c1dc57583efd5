package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// check holds the invariants of the fault matrix against the swarm after its time of calm.
func (s *Swarm) check(healed []uint64) error {
	honest := s.honest()
	if err := s.checkSameHead(); err != nil {
		return fmt.Errorf("I1: %w", err)
	}
	chains := verifier{swarm: s, seen: map[[2]seedlog.Link]*verdict{}}
	for _, n := range honest {
		if err := chains.check(n); err != nil {
			return fmt.Errorf("I2 and I3: node %d: %w", n.index, err)
		}
	}
	if err := s.checkNothingLost(); err != nil {
		return fmt.Errorf("I4: %w", err)
	}
	s.Report.Height = slices.Min(s.heights())
	for i, n := range honest {
		if h := n.coord.Snapshot().Height; h <= healed[i] {
			return fmt.Errorf("I5: node %d had height %d when all was healed and has %d now", n.index, healed[i], h)
		}
	}
	return nil
}

// inFlight is how many of the newest entries may differ between peers at any moment, because they are on their way,
// folded, re-run or saved.
func (s *Swarm) inFlight() uint64 {
	n := 4 + s.opts.Fold + s.opts.Sync
	if s.opts.WAN {
		n += 6
	}
	if s.opts.Format2 {
		n += 2 // who waits for a hub that gives it no entries asks another some heartbeats later
	}
	return uint64(n)
}

// checkSameHead (I1): all honest natives are on one chain, but for the newest entries.
func (s *Swarm) checkSameHead() error {
	honest, inFlight := s.honest(), s.inFlight()
	common := slices.Min(s.heights())
	if highest := slices.Max(s.heights()); highest > common+inFlight {
		return fmt.Errorf("heights from %d to %d: %v", common, highest, s.heights())
	}
	if common <= inFlight {
		return fmt.Errorf("height %d only", common)
	}
	at := common - inFlight
	for _, n := range honest {
		if uint64(len(n.disk.chain)) < at {
			return fmt.Errorf("node %d saved %d of %d entries", n.index, len(n.disk.chain), n.coord.Snapshot().Height)
		}
		if n.disk.chain[at-1] != honest[0].disk.chain[at-1] {
			return fmt.Errorf("nodes %d and %d differ at height %d of %d", honest[0].index, n.index, at, common)
		}
	}
	return nil
}

// verifier checks chains on disks from the genesis: form, signatures, order, digests, and that every claim is true.
// What is the same on several disks is checked once.
type verifier struct {
	swarm *Swarm
	seen  map[[2]seedlog.Link]*verdict
}

type verdict struct {
	below  *verdict
	parent seedlog.Parent // as the next entry sees it
	claims []*seedlog.Claim
	state  *evolve.State
	lies   []coordinator.Peer // whose claims are false, where leaders do not re-run all
	chunk  uint64             // counters of a chunk
	err    error
}

// Logged implements seedlog.Below, by counting.
func (v *verdict) Logged(on seedlog.Link, peer coordinator.Peer) (height, chunks uint64, ok bool) {
	for depth := 0; v != nil && depth <= seedlog.MaxStale; v, depth = v.below, depth+1 {
		if v.parent.Link == on {
			return v.parent.Height, chunks, true
		}
		for _, c := range v.claims {
			if c.Peer == peer && c.Parent == on && !c.HeldOut() {
				chunks += uint64(len(c.Steps)) / v.chunk
			}
		}
	}
	return 0, 0, false
}

// HeldOut implements seedlog.Below, by counting.
func (v *verdict) HeldOut(on seedlog.Link, peer coordinator.Peer) (chunks, steps, all uint64) {
	for v != nil && v.parent.Link != on {
		for _, c := range v.claims {
			if c.Peer == peer && c.HeldOut() {
				chunks += uint64(len(c.Steps)) / v.chunk
			}
		}
		v = v.below
	}
	for count := 0; v != nil && count < seedlog.ShareEntries; count++ {
		for _, c := range v.claims {
			if all += c.TotalSteps(); c.Peer == peer {
				steps += c.TotalSteps()
			}
		}
		v = v.below
	}
	return chunks, steps, all
}

// liesUntil is for how many entries a peer's claims may still be logged after a false one of it.
const liesUntil = 20

// lied checks that who makes false claims is soon out of the log.
func (v *verdict) lied() error {
	first := make(map[coordinator.Peer]uint64)
	var chain []*verdict
	for ; v != nil; v = v.below {
		chain = append(chain, v)
	}
	for _, at := range slices.Backward(chain) {
		for _, p := range at.lies {
			if _, known := first[p]; !known {
				first[p] = at.parent.Height
			}
		}
		for _, c := range at.claims {
			if height, lied := first[c.Peer]; lied && at.parent.Height > height+liesUntil {
				return fmt.Errorf("%w at height %d, and height %d still holds claims of its author", seedlog.ErrFalseClaim, height, at.parent.Height)
			}
		}
	}
	return nil
}

// check (I2, I3): what is on disk verifies from the genesis, folds to the live state, and holds no false claim.
func (v *verifier) check(n *node) error {
	s := v.swarm
	at := &verdict{parent: seedlog.Parent{Link: s.rules.Run}, state: s.rules.Initial()}
	for i, link := range n.disk.chain {
		key := [2]seedlog.Link{link, n.disk.seals[i]}
		next := v.seen[key]
		if next == nil {
			next = v.entry(n, key, at)
			v.seen[key] = next
		}
		if next.err != nil {
			return fmt.Errorf("height %d of %d: %w", i+1, len(n.disk.chain), next.err)
		}
		at = next
	}
	if err := at.lied(); err != nil {
		return err
	}
	if n.disk.pending != nil {
		return nil // the newest entry is being saved
	}
	live := n.coord.Snapshot()
	if live.Head != at.parent.Link {
		return fmt.Errorf("the disk ends at height %d, another head than the live one at %d", at.parent.Height, live.Height)
	}
	if live.StateHeight == live.Height && (live.State.Digest() != at.state.Digest() || live.State.ThetaDigest() != at.state.ThetaDigest()) {
		return fmt.Errorf("disk folds to another state than the live one at height %d", at.parent.Height)
	}
	// Who knows of a false claim leaves its author's results out.
	if o := &s.opts; o.Faulty == 0 && len(o.Attacks) == 0 && o.Stranger == 0 && live.Base == 0 && live.BestState != at.parent.Marks.Best {
		return fmt.Errorf("the live best state is %+v, that of the disk at height %d is %+v", live.BestState, at.parent.Height, at.parent.Marks.Best)
	}
	return nil
}

func (v *verifier) entry(n *node, key [2]seedlog.Link, parent *verdict) *verdict {
	s := v.swarm
	entry, err := s.rules.CheckEntry(n.disk.blocks[key[0]], n.disk.blocks[key[1]])
	if err != nil {
		return &verdict{err: err}
	}
	var batches [][]byte
	for _, link := range entry.Value().Batches {
		batches = append(batches, n.disk.blocks[link])
	}
	if entry, err = s.rules.Join(entry, batches); err != nil {
		return &verdict{err: err}
	}
	e := entry.Value()
	var lies []coordinator.Peer
	checked, claims := make([]seedlog.CheckedClaim, len(e.Claims)), make([]*seedlog.Claim, len(e.Claims))
	for j, l := range e.Claims {
		if checked[j], err = s.checker.Claim(n.disk.blocks[l]); err != nil {
			return &verdict{err: err}
		}
		claims[j] = checked[j].Value()
		switch err := s.checkTrue(claims[j]); {
		case err != nil && s.rules.Spec.SpotChecks == nil:
			return &verdict{err: err}
		case err != nil:
			lies = append(lies, claims[j].Peer)
		}
	}
	place := parent.parent
	place.Below = parent
	if err := s.rules.CheckPlace(entry, place, checked); err != nil {
		return &verdict{err: err}
	}
	next := &verdict{below: parent, chunk: s.rules.Spec.Generation.Chunk, parent: s.rules.After(parent.parent, key[0], e, claims), claims: claims, lies: lies}
	next.state, next.err = s.rules.Advance(parent.state, e, claims)
	return next
}

func (s *Swarm) checkTrue(c *seedlog.Claim) error {
	for i := range c.Steps {
		counter := s.rules.First(c) + uint64(i)
		seed := s.rules.Seed(c.Parent, c.Peer, counter)
		fitness, steps := s.rules.At(c, counter)
		for sign, f := range fitness {
			if f != truth(seed, sign) || steps != uint64(len(fitness))*trueSteps(seed) {
				return fmt.Errorf("%w: counter %d of %s", seedlog.ErrFalseClaim, counter, s.name(c.Peer))
			}
		}
	}
	return nil
}

// checkNothingLost (I4): every entry that an honest leader sent out is on some disk, canonical or on a branch.
func (s *Swarm) checkNothingLost() error {
	for link := range s.online.acknowledged { //lint:sorted any one is reported
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
