package coordinator

import "cmp"

// source is what shares of bounded tables are counted by. Keys are free, so only one with a record counts for itself;
// what others wrote counts for the block of addresses of the neighbor that delivered it, or for that neighbor's key
// where no address is known.
type source struct {
	key Peer
	at  string
}

// sourceOf is the source of a message.
func (c *Coordinator) sourceOf(e *Received) source {
	switch {
	case c.known(e.From):
		return source{key: e.From}
	case e.Source != "":
		return source{at: e.Source}
	}
	return source{key: e.Via}
}

// compare orders sources, so that no map decides.
func (s source) compare(o source) int {
	return cmp.Or(s.key.Compare(o.key), cmp.Compare(s.at, o.at))
}
