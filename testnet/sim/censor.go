package sim

import "github.com/evoswarm/evoswarm/coordinator"

// censor logs its own work alone when it leads: it never asks others for theirs.
type censor struct{ passive }

// Send implements Insider.
func (c *censor) Send(_ *Actor, _ int, out []coordinator.Envelope) []coordinator.Envelope {
	return filter(out, func(e coordinator.Envelope) bool {
		_, wants := e.Message.(*coordinator.Want)
		if wants {
			c.deeds++
		}
		return !wants
	})
}
