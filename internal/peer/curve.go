package peer

import (
	"cmp"
	"slices"

	"github.com/evoswarm/evoswarm/internal/store"
)

// maxCurve bounds the points of a learning curve; beyond it every second one is dropped.
const maxCurve = 2048

// Point is one held-out evaluation of the mean policy. Its JSON form is what /api/curve and the page show.
type Point struct {
	Height      uint64  `json:"height"`
	Head        string  `json:"head"`        // link of the entry of that height; of the genesis at height 0
	Evaluations uint64  `json:"evaluations"` // of the run up to there
	Steps       uint64  `json:"steps"`       // env-steps of the run's training up to there
	Return      float64 `json:"return"`      // mean over Checks.Validate episodes, or over those of the test
}

// Curve returns the learning curve: the held-out evaluations so far, in order of height, at most some
// thousand. Those of entries that are no longer canonical are gone. It is a copy.
func (p *Peer) Curve() []Point {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Point{}, p.curve...)
}

// restoreCurve takes the points of an earlier start whose entries are canonical.
func (p *Peer) restoreCurve(points []Point, s store.Store) {
	for _, pt := range points {
		n := len(p.curve)
		entry, _, _ := s.At(pt.Height)
		switch {
		case n > 0 && pt.Height <= p.curve[n-1].Height, n >= maxCurve:
		case pt.Height == 0 && pt.Head == p.rules.Run.String(),
			entry.Defined() && pt.Head == entry.String(),
			pt.Height > 0 && pt.Height < s.First(): // it was dropped
			p.curve = append(p.curve, pt)
		}
	}
}

// addPoint adds a held-out evaluation in its place, instead of an earlier one of the same state: a test may be over
// after the evaluation of a later one.
func (p *Peer) addPoint(pt Point) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, same := slices.BinarySearchFunc(p.curve, pt.Height, func(q Point, height uint64) int { return cmp.Compare(q.Height, height) })
	if same {
		p.curve[at] = pt
		return
	}
	p.curve = slices.Insert(p.curve, at, pt)
	if len(p.curve) > maxCurve {
		for i := range maxCurve / 2 {
			p.curve[i] = p.curve[2*i+1]
		}
		p.curve = append(p.curve[:maxCurve/2], p.curve[maxCurve:]...)
	}
}

// onCurve reports whether the learning curve ends at a height.
func (p *Peer) onCurve(height uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.curve)
	return n > 0 && p.curve[n-1].Height == height
}
