package sim

import "github.com/evoswarm/evoswarm/coordinator"

// withholder says by hash what it has, and gives nothing away: neither claims nor the bodies of entries.
type withholder struct{ passive }

// Send implements Insider.
func (w *withholder) Send(_ *Actor, _ int, out []coordinator.Envelope) []coordinator.Envelope {
	return filter(out, func(e coordinator.Envelope) bool {
		switch e.Message.(type) {
		case *coordinator.Segment, *coordinator.Push, *coordinator.Claims:
			w.deeds++
			return false
		}
		return true
	})
}
