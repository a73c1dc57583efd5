package coordinator

import "github.com/evoswarm/evoswarm/internal/seedlog"

// Needs lists the blocks off the canonical chain that this peer may ask its archive for: now, or after a restart. What
// else was given for keeping may go. It is called when all actions so far are done.
func (c *Coordinator) Needs() []seedlog.Link {
	var links []seedlog.Link
	for _, pair := range c.hard.Proofs {
		links = append(links, pair[:]...)
	}
	for _, n := range c.chain.nodes { //lint:sorted a set
		if !c.chain.canonical(n) && n.body == nil {
			links = append(append(links, n.link, n.sealLink), n.claims...)
		}
	}
	return links
}
