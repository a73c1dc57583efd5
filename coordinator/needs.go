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
			links = append(append(links, n.link, n.sealLink), n.blocksNamed()...)
		}
	}
	return append(links, c.based.needs()...)
}

// needs lists what is kept of a base, and of the chain from there on: the archive's is another one.
func (b *based) needs() (links []seedlog.Link) {
	if b == nil {
		return nil
	}
	if b.past != nil {
		links = b.past.Needs()
	}
	links = append(append(append(links, b.record), b.State...), b.archive.links...)
	for _, p := range b.archive.places {
		links = append(links, p.Entry, p.Seal)
		if p.Entry == b.Entry {
			continue // what it was made of is not here
		}
		if data, ok := b.archive.Block(p.Entry); ok {
			if e, err := seedlog.ReadEntry(data, b.archive.Block); err == nil {
				links = append(links, e.Named()...)
			}
		}
	}
	return links
}
