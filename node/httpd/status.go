package httpd

import (
	"context"
	"io"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// Status is what a node says of itself: /api/status and evonode status --json.
type Status struct {
	peer.Status
	Leader   string  `json:"leader"`    // key in hexadecimal, "" if none is known
	Solved   bool    `json:"solved"`    // whether the mean policy passed the test, or did as well in a held-out evaluation
	SolvedAt *uint64 `json:"solved_at"` // height of the first that did; nil: none
	Page     string  `json:"page"`      // URL of the page on this computer, "" if none is served
	Lifetime uint64  `json:"lifetime"`  // evaluations of this computer in all its runs that were logged, replaced ones included
	Runs     int     `json:"runs"`      // how many runs that is
	Branches int     `json:"branches"`  // of this run that were replaced and are kept
	Uptime   float64 `json:"uptime"`    // [s]
	Version  string  `json:"version"`   // of the build
}

// SetSolved notes the state that ended the run; in a run that does not end so, the first point of a learning curve that
// reached the threshold.
func (s *Status) SetSolved(curve []peer.Point) {
	if s.EndsSolved {
		if s.SolvedHeight > 0 {
			s.Solved, s.SolvedAt = true, &s.SolvedHeight
		}
		return
	}
	for i := range curve {
		if s.Threshold != nil && curve[i].Return >= *s.Threshold {
			s.Solved, s.SolvedAt = true, &curve[i].Height
			return
		}
	}
}

// Node is what the HTTP side reads. All methods are safe for concurrent use.
type Node interface {
	Status() Status
	// Addresses lists multiaddresses at which others may reach the node, each ending in /p2p/ID.
	Addresses() []string
	// WriteLog writes the canonical chain of the present run as a seed log.
	WriteLog(w io.Writer) error
	// Curve is the learning curve of the present run.
	Curve() []peer.Point
	// Roster says who takes part in the present run; without one it is empty.
	Roster(ctx context.Context) (*peer.Roster, error)
}
