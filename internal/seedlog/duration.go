package seedlog

import "fmt"

// How long a generation lasts, in format 2. A spec says how long at least. Where results take so long that many of them
// come too late for a place, the entries say that the next generation lasts longer, and shorter again later. What they
// say follows from the claims that they hold, so a leader can only choose among what arrived.

// Limits of the least time of a generation, in milliseconds, and of how many times as long one may come to last.
const (
	MinDuration = 50
	MaxDuration = 10_000
	MaxLonger   = 16
)

// A step in which generations become longer or shorter.
const (
	durationUp   = 8 // longer by one in so many
	durationDown = 9 // shorter by one in so many
)

// Duration is how long the generation above p lasts at least, in milliseconds; 0: the spec does not say it.
func (r *Rules) Duration(p Parent) uint64 { return max(p.Duration, r.Spec.Generation.Duration) }

// durationAfter is what an entry on parent with n claims says of the next generation; 0: it lasts as long as the spec
// says. Results age by one for each entry between their parent and the entry that holds them. On average, by env-steps,
// they are much younger than max_stale if few come too late. If a third of exponentially distributed times is longer
// than max_stale entries, those that are not have a mean of two fifths of that; if one in fifty is longer, of a fourth.
func (r *Rules) durationAfter(parent Parent, n int, claim func(int) *Claim) uint64 {
	g := r.Spec.Generation
	if g.Duration == 0 || g.MaxStale == 0 {
		return 0
	}
	ages := make(map[Link]uint64) // of claims on an entry
	var steps, aged uint64
	for i := range n {
		c := claim(i)
		if c.HeldOut() {
			continue
		}
		age, seen := ages[c.Parent]
		if !seen {
			height, _, ok := parent.logged(c.Parent, c.Peer)
			if !ok {
				continue
			}
			age = parent.Height - height
			ages[c.Parent] = age
		}
		steps += c.TotalSteps()
		aged += age * c.TotalSteps()
	}
	d := r.Duration(parent)
	switch {
	case 5*aged >= 2*g.MaxStale*steps && steps > 0:
		d = min(d+max(d/durationUp, 1), MaxLonger*g.Duration, max(MaxDuration, g.Duration))
	case 4*aged <= g.MaxStale*steps:
		d = max(d-d/durationDown, g.Duration)
	}
	if d == g.Duration {
		return 0
	}
	return d
}

// checkDuration verifies what an entry says of the next generation.
func (r *Rules) checkDuration(e *Entry, parent Parent, claims []Block[Claim]) error {
	if want := r.durationAfter(parent, len(claims), func(i int) *Claim { return claims[i].value }); e.Duration != want {
		return fmt.Errorf("%w: the entry of height %d says that the next generation lasts %d ms, its claims say %d", ErrCount, e.Height, e.Duration, want)
	}
	return nil
}
