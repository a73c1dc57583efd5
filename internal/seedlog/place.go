package seedlog

import "fmt"

// Parent is what an entry has to know of its parent block.
type Parent struct {
	Link   Link
	Height uint64
	Term   uint64
	// Evaluations and Steps are those of the chain up to it, Solved is what it says of a state that passed the test.
	Evaluations, Steps, Solved uint64
	// Duration is what it says of the time of the next generation, in milliseconds; 0: as long as the spec says.
	Duration uint64
	// Marks are what the chain says of its states.
	Marks Marks
	// Below looks up the entries below, on which claims may lie if max_stale is above 0; nil: there are none.
	Below Below
}

// Next is what the entry after an entry on p has to know, but for Marks and Below.
func (p Parent) Next(link Link, e *Entry) Parent {
	return Parent{Link: link, Height: e.Height, Term: e.Term, Evaluations: p.Evaluations + e.Evaluations, Steps: p.Steps + e.Steps, Solved: e.Solved, Duration: e.Duration}
}

// Below looks up what the newest entries of a chain hold.
type Below interface {
	// Logged returns the height of an entry (or the genesis) that lies at most MaxStale entries below the newest one,
	// and how many chunks of a peer's claims on it the entries above it hold; false if it is none of them.
	Logged(on Link, peer Peer) (height, chunks uint64, ok bool)
	// HeldOut returns how many held-out chunks of a peer on such an entry those above it hold; and of the env-steps in
	// the ShareEntries entries up to it, those of the peer, and all. 0 of all: not known.
	HeldOut(on Link, peer Peer) (chunks, steps, all uint64)
}

// CheckPlace verifies an entry against its parent block and the claims it names, which must be given in its order.
// It neither hashes nor verifies signatures.
func (r *Rules) CheckPlace(entry CheckedEntry, parent Parent, claims []CheckedClaim) error {
	blocks := make([]Block[Claim], len(claims))
	for i, c := range claims {
		blocks[i] = c.Block
	}
	return r.checkPlace(entry.value, parent, blocks)
}

func (r *Rules) checkPlace(e *Entry, parent Parent, claims []Block[Claim]) error {
	if err := r.checkPlaceAbove(e, parent, claims); err != nil {
		return err
	}
	if err := r.checkClaims(e, parent, claims); err != nil {
		return err
	}
	return r.checkDuration(e, parent, claims)
}

// checkPlaceAbove is checkPlace where the entries are not known that the claims may lie on.
func (r *Rules) checkPlaceAbove(e *Entry, parent Parent, claims []Block[Claim]) error {
	switch {
	case e.Run != r.Run:
		return fmt.Errorf("%w: entry of run %s", ErrRun, e.Run)
	case e.Parent != parent.Link:
		return fmt.Errorf("%w: entry has the parent %s, expected %s", ErrLink, e.Parent, parent.Link)
	case e.Height != parent.Height+1:
		return fmt.Errorf("%w: entry of height %d on height %d", ErrOrder, e.Height, parent.Height)
	case r.Ended(parent) != Open:
		return fmt.Errorf("%w: entry of height %d on one that ended it (%s)", ErrEnded, e.Height, r.Ended(parent))
	case e.Term < parent.Term || e.Term == 0:
		return fmt.Errorf("%w: entry of term %d on term %d", ErrOrder, e.Term, parent.Term)
	case e.Term-parent.Term > MaxTermStep:
		return fmt.Errorf("%w: entry of term %d on term %d, at most %d further", ErrOrder, e.Term, parent.Term, uint64(MaxTermStep))
	case uint64(len(e.Claims)) > r.MostClaims():
		return fmt.Errorf("%w: entry with %d claims, at most %d", ErrTooLarge, len(e.Claims), r.MostClaims())
	case e.NamesClaims() != uint64(len(e.Claims)):
		return fmt.Errorf("%w: the batches of an entry", ErrMissing)
	case len(claims) != len(e.Claims):
		return fmt.Errorf("%w: %d claims for an entry that names %d", ErrCount, len(claims), len(e.Claims))
	}
	return r.checkSolved(e, parent)
}

// logged is Below.Logged; where that is nil, only the parent itself has a place, without any claim on it.
func (p *Parent) logged(on Link, peer Peer) (height, chunks uint64, ok bool) {
	switch {
	case on == p.Link:
		return p.Height, 0, true
	case p.Below == nil:
		return 0, 0, false
	}
	return p.Below.Logged(on, peer)
}

func (r *Rules) checkClaims(e *Entry, parent Parent, claims []Block[Claim]) error {
	var all, candidates counts
	var next, most, on uint64 // on: height of the claims' parent; most: held-out chunks that have a place there
	for i, b := range claims {
		c := b.value
		if b.link != e.Claims[i] {
			return fmt.Errorf("%w: claim %s in place of %s", ErrLink, b.link, e.Claims[i])
		}
		if i == 0 || c.Peer != claims[i-1].value.Peer || c.Parent != claims[i-1].value.Parent || c.HeldOut() != claims[i-1].value.HeldOut() {
			newPeer := i == 0 || c.Peer != claims[i-1].value.Peer
			if newPeer && i > 0 && claims[i-1].value.Peer.Compare(c.Peer) > 0 {
				return fmt.Errorf("%w: claims of %s after those of %s", ErrOrder, c.Peer.Short(), claims[i-1].value.Peer.Short())
			}
			height, chunks, ok := parent.logged(c.Parent, c.Peer)
			switch {
			case !ok || parent.Height-height > r.Spec.Generation.MaxStale:
				return fmt.Errorf("%w: claim on %s in an entry on %s", ErrOrder, c.Parent, e.Parent)
			case !newPeer && height <= on && !(height == on && c.HeldOut()):
				return fmt.Errorf("%w: claims of %s on height %d after those on height %d", ErrOrder, c.Peer.Short(), height, on)
			}
			next, on = chunks, height
			if c.HeldOut() {
				var err error
				if next, most, err = r.checkShare(c, height, &parent); err != nil {
					return err
				}
			}
		}
		if c.Chunk != next {
			return fmt.Errorf("%w: chunk %d of %s where chunk %d belongs", ErrOrder, c.Chunk, c.Peer.Short(), next)
		}
		next += r.Chunks(c)
		if c.HeldOut() && next-FirstHeldOut > most {
			return fmt.Errorf("%w: held-out chunk %d of %s, whose work earns it %d", ErrCount, next-1-FirstHeldOut, c.Peer.Short(), most)
		}
		if all.add(c); !c.HeldOut() {
			candidates.add(c)
		}
	}
	if all.evaluations != e.Evaluations || all.steps != e.Steps {
		return fmt.Errorf("%w: entry states %d evaluations and %d steps, its claims have %d and %d", ErrCount, e.Evaluations, e.Steps, all.evaluations, all.steps)
	}
	if all.evaluations > MaxEvaluations {
		return fmt.Errorf("%w: generation of %d evaluations, at most %d", ErrCount, all.evaluations, MaxEvaluations)
	}
	return r.checkFull(candidates.evaluations, candidates.steps)
}

// counts are what claims have together.
type counts struct{ evaluations, steps uint64 }

func (n *counts) add(c *Claim) {
	n.evaluations += c.Evaluations()
	n.steps += c.TotalSteps()
}

// checkFull reports whether a generation with candidates' results of this size may be closed.
func (r *Rules) checkFull(evaluations, steps uint64) error {
	g := r.Spec.Generation
	if evaluations > MaxEvaluations || (!g.Open && evaluations != g.Evaluations) || evaluations < g.Evaluations || steps < g.Steps {
		return fmt.Errorf("%w: generation of %d evaluations and %d steps; the spec asks for %d (open: %t) and %d", ErrCount, evaluations, steps, g.Evaluations, g.Open, g.Steps)
	}
	return nil
}

// Full reports whether claims of candidates of this size close a generation.
func (r *Rules) Full(evaluations, steps uint64) bool { return r.checkFull(evaluations, steps) == nil }
