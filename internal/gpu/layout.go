package gpu

import "fmt"

// layout is how the work-items of a device share a launch: a group plays rows episodes, and shares their policies'
// layers. Sizes are chosen for GPUs, whose work-items step together by 32.
type layout struct {
	lanes int  // work-items of a group
	rows  int  // episodes of a group, at most lanes
	few   int  // of these whose actions are chosen at a time
	width int  // of a row's vectors: a multiple of four that no layer exceeds
	held  bool // weights lie in local memory; otherwise they are read from the device's for each action
}

const (
	// groupShare is how much local memory a group of 32 should take, for many to be there at a time [bytes].
	groupShare = 16 << 10
	maxRows    = 32
	// fewRows are those whose actions are chosen at a time where episodes do not lie in local memory: a GPU has its
	// first cache for them in what local memory leaves.
	fewRows = 4
	// unitGroups are the groups for each processor of a device below which a group takes fewer episodes.
	unitGroups = 4
)

// chooseLayout says how the plan is played. Errors wrap ErrUnfit.
func (p *player) chooseLayout() (layout, error) {
	width := max(p.world.obsDim, p.plan.Policy.Widest())
	l := layout{lanes: 32, rows: 1, few: 1, width: (width + 3) / 4 * 4}
	switch {
	case p.info.CPU:
		l.lanes = 1
	case p.world.size() == small:
		l.held = true
		for l.rows < maxRows && 2*p.local(l) <= groupShare {
			l.rows *= 2
			l.few = l.rows
		}
		if l.rows == 1 {
			l.lanes = 64
		}
	case p.world.size() == large:
		l.rows, l.few = maxRows, fewRows
	}
	l.lanes = min(l.lanes, p.s.group("play"))
	l.rows = min(l.rows, l.lanes)
	if p.local(l) > p.info.Local {
		l.few, l.held = 1, false
	}
	if p.local(l) > p.info.Local {
		l.rows = 1
	}
	if need := p.local(l); need > p.info.Local {
		return l, fmt.Errorf("%w: an episode with this policy takes %d bytes of a group's memory, and it has %d; the CPU's cores compute", ErrUnfit, need, p.info.Local)
	}
	return l, nil
}

// local is what a group has in local memory, as play.cl lays it out [bytes].
func (p *player) local(l layout) int {
	n := (l.rows*(p.episodeLocal+8)+15)/16*16 + 4*(3*l.few*l.width+l.lanes)
	if l.held {
		n += 4 * l.rows * p.plan.Policy.Dim()
	}
	return n
}

// spread gives the groups fewer episodes where n are too few for a device with that many processors.
func (l layout) spread(n, units int) layout {
	l.rows = max(1, min(l.rows, n/max(1, unitGroups*units)))
	l.few = min(l.few, l.rows)
	return l
}

// items is the number of work-items for n episodes.
func (l layout) items(n int) int { return (n + l.rows - 1) / l.rows * l.lanes }
