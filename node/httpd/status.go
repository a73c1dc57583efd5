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

	// Addresses are where others may reach the node for this run: for its owner alone, pages take them from
	// /addresses.json.
	Addresses []string `json:"addresses,omitempty"`

	// Active has the status of each run, where the node works on several at the same time; what is above is the
	// first one's.
	Active []Status `json:"active,omitempty"`
}

// SetSolved notes the state that ended the run; in a run that does not end so, the first point of a learning curve
// that reached the threshold.
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
	// Status is that of the first run, with those of all.
	Status() Status
	// Runs are what the node works on, always as many; where there is no run yet there is a place for one.
	Runs() []Run
}

// Run is one of the runs that a node works on, or the place for one. All methods are safe for concurrent use.
type Run interface {
	Status() Status
	// Addresses lists multiaddresses at which others may reach the node for this run, each ending in /p2p/ID.
	Addresses() []string
	// WriteLog writes the canonical chain as a seed log.
	WriteLog(w io.Writer) error
	// Curve is the learning curve.
	Curve() []peer.Point
	// Roster says who takes part; without a run it is empty.
	Roster(ctx context.Context) (*peer.Roster, error)
}
