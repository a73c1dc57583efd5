package peer

import (
	"context"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
)

// Roster says who takes part in the run, as this peer knows it. Its JSON form is what /api/peers shows.
type Roster struct {
	Members []Member `json:"members"` // those with the most work in the newest entries first
	Others  int      `json:"others"`  // members that are left out
	Entries uint64   `json:"entries"` // how many of the newest entries Member.Lately counts
	Reorgs  uint64   `json:"reorgs"`  // how often entries were replaced since this peer started
	Reorg   *Reorg   `json:"reorg"`   // the last time; nil: never
}

// Member is a peer that is heard, or has work in the newest entries.
type Member struct {
	Key         string `json:"key"` // in hexadecimal
	Self        bool   `json:"self"`
	Leads       bool   `json:"leads"`
	Here        bool   `json:"here"`        // is heard
	Kind        string `json:"kind"`        // "node" or "tab", as it says; "" if it is not heard
	Hub         bool   `json:"hub"`         // can be dialed, as it says
	Height      uint64 `json:"height"`      // of its head, as it says
	Lately      uint64 `json:"lately"`      // its evaluations in the newest entries
	Evaluations uint64 `json:"evaluations"` // its evaluations in the log
}

// Ledger is what this peer has computed since it started, in evaluations, and what became of it.
type Ledger struct {
	Computed uint64 `json:"computed"`
	Logged   uint64 `json:"logged"`
	Waiting  uint64 `json:"waiting"`  // may still be logged
	Late     uint64 `json:"late"`     // no entry took it in time
	Replaced uint64 `json:"replaced"` // was logged, in entries that a heavier chain replaced
}

// Reorg is a change of the chain below its tip.
type Reorg struct {
	Height uint64 `json:"height"` // of the newest entry that stayed
	Gone   uint64 `json:"gone"`   // entries above it that were replaced
	Come   uint64 `json:"come"`   // those that replaced them
}

const (
	// rosterMembers bounds what a Roster lists.
	rosterMembers = 256
	// rosterAge is for how long one is shown: it costs the loop a walk over all who are heard, and anybody may ask.
	rosterAge = time.Second
)

// Roster lists who takes part, as of the last second. It returns ErrClosed once the peer has stopped.
func (p *Peer) Roster(ctx context.Context) (*Roster, error) {
	answer := make(chan *Roster, 1)
	p.inbox.post(func() {
		d := &p.driver
		if d.roster == nil || time.Since(d.rosterAt) >= rosterAge {
			d.roster, d.rosterAt = rosterOf(d.coord.Roster(rosterMembers), d.snapshot.Self), time.Now()
		}
		answer <- d.roster
	})
	select {
	case r := <-answer:
		return r, nil
	case <-p.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func rosterOf(c coordinator.Roster, self coordinator.Peer) *Roster {
	r := &Roster{Members: make([]Member, len(c.Members)), Others: c.Others, Entries: c.Entries, Reorgs: c.Reorgs}
	if c.Reorgs > 0 {
		r.Reorg = &Reorg{c.Reorg.Height, c.Reorg.Gone, c.Reorg.Come}
	}
	for i, m := range c.Members {
		r.Members[i] = Member{Key: m.Peer.String(), Self: m.Peer == self, Leads: m.Leads, Here: m.Here, Hub: m.Hub, Height: m.Height,
			Lately: m.Lately.Evaluations, Evaluations: m.Credit.Evaluations}
		switch {
		case m.Here && m.Kind == coordinator.Tab:
			r.Members[i].Kind = "tab"
		case m.Here:
			r.Members[i].Kind = "node"
		}
	}
	return r
}

func ledgerOf(l coordinator.Ledger) Ledger {
	return Ledger{l.Computed, l.Logged, l.Waiting(), l.Late, l.Replaced}
}
