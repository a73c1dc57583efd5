package sim

import "github.com/evoswarm/evoswarm/coordinator"

// hoardedEntries are how many entries the hoarder keeps to itself before it shows them.
const hoardedEntries = 10

// hoarder keeps the entries that it appends as a leader to itself, heartbeats as if there were none, and shows all of
// them at once: what others did meanwhile is lost to the heavier branch.
type hoarder struct {
	passive
	hidden []coordinator.Envelope
	shown  coordinator.Status
}

// Send implements Insider.
func (h *hoarder) Send(a *Actor, n int, out []coordinator.Envelope) []coordinator.Envelope {
	v := a.View(n)
	var sent []coordinator.Envelope
	for _, e := range out {
		switch m := e.Message.(type) {
		case *coordinator.Announce:
			h.hidden = append(h.hidden, e)
			continue
		case *coordinator.Segment, *coordinator.Push:
			if len(h.hidden) > 0 {
				continue
			}
		case *coordinator.Status:
			if len(h.hidden) > 0 {
				was := *m
				was.Head, was.Height, was.Weight = h.shown.Head, h.shown.Height, h.shown.Weight
				e.Message = &was
			} else {
				h.shown = *m
			}
		}
		sent = append(sent, e)
	}
	if len(h.hidden) >= hoardedEntries || (len(h.hidden) > 0 && v.Role != coordinator.Leader) {
		h.deeds += len(h.hidden)
		sent = append(sent, h.hidden...)
		h.hidden = nil
	}
	return sent
}
