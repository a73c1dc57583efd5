package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Ledger counts what this peer has computed for the run since it started, in evaluations, and what became of it. What
// is in none of the other fields may still be logged. What two branches hold counts as replaced with the one that lost.
type Ledger struct {
	Computed uint64
	Logged   uint64 // in the canonical chain
	Late     uint64 // no entry took it while it had a place
	Replaced uint64 // was logged, in entries that a heavier chain replaced
}

// Waiting is what may still be logged.
func (l Ledger) Waiting() uint64 { return l.Computed - l.Logged - l.Late - l.Replaced }

// settleEntries is how many entries above the last one that may hold a claim this peer waits before it counts the claim
// as late: the chain may be replaced.
const settleEntries = 64

// maxOpenClaims bounds the claims that are not settled. Beyond it the oldest are settled early.
const maxOpenClaims = 2048

// ledger is the Ledger and the claims in it that are not settled.
type ledger struct {
	Ledger
	order []seedlog.Link // of the claims, oldest first
	open  map[seedlog.Link]*openClaim
	held  []held // what canonical entries hold of what was computed since the start, lowest first
}

// maxHeld bounds the entries with own claims that are remembered. What a deeper reorganization replaces stays counted
// as logged.
const maxHeld = 4096

// held is what an entry holds of a peer.
type held struct{ height, evaluations uint64 }

// openClaim is an own claim that the next entries may hold, or that a heavier chain may undo.
type openClaim struct {
	evaluations uint64
	height      uint64 // of the entry that it is on
	logged      bool
	replaced    bool // it was logged before
}

// claimed counts an own claim on the entry at a height.
func (l *ledger) claimed(claim seedlog.CheckedClaim, height uint64) {
	if l.open == nil {
		l.open = make(map[seedlog.Link]*openClaim)
	}
	if l.open[claim.Link()] != nil {
		return
	}
	evaluations := claim.Value().Evaluations()
	l.Computed += evaluations
	l.open[claim.Link()] = &openClaim{evaluations: evaluations, height: height}
	l.order = append(l.order, claim.Link())
	if len(l.order) > maxOpenClaims {
		l.settleOldest()
	}
}

// came counts the own claims of an entry that became canonical.
func (l *ledger) came(height uint64, claims []seedlog.Link) {
	var sum uint64
	for _, link := range claims {
		if o := l.open[link]; o != nil && !o.logged {
			o.logged = true
			sum += o.evaluations
		}
	}
	if sum == 0 {
		return
	}
	l.Logged += sum
	if len(l.held) == maxHeld {
		l.held = append(l.held[:0:0], l.held[maxHeld/2:]...)
	}
	l.held = append(l.held, held{height, sum})
}

// gone takes them out again: the entry was replaced. Those that are not settled may be logged once more.
func (l *ledger) gone(height uint64, claims []seedlog.Link) {
	i := len(l.held) - 1
	for i >= 0 && l.held[i].height != height {
		i--
	}
	if i < 0 {
		return
	}
	sum := l.held[i].evaluations
	l.held = slices.Delete(l.held, i, i+1)
	l.Logged -= sum
	for _, link := range claims {
		if o := l.open[link]; o != nil && o.logged {
			o.logged, o.replaced = false, true
			sum -= o.evaluations
		}
	}
	l.Replaced += sum
}

// settle closes the claims that no entry above the head may hold.
func (l *ledger) settle(head, maxStale uint64) {
	for len(l.order) > 0 && l.open[l.order[0]].height+maxStale+settleEntries < head {
		l.settleOldest()
	}
}

// settleOldest closes the oldest claim.
func (l *ledger) settleOldest() {
	o := l.open[l.order[0]]
	delete(l.open, l.order[0])
	l.order = l.order[1:]
	switch {
	case o.logged:
	case o.replaced:
		l.Replaced += o.evaluations
	default:
		l.Late += o.evaluations
	}
}
