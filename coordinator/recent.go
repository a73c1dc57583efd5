package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// mostRecent bounds the generations that a hub keeps in memory for those who ask, and mostRecentBytes their blocks.
	mostRecent      = 64
	mostRecentBytes = 16 << 20
)

// recentGenerations are the newest ones of this peer's chain, oldest first. A hub gives each to many leaves, so it does
// not read the claims from the archive each time.
type recentGenerations struct {
	list  []recentGeneration
	bytes int
}

type recentGeneration struct {
	Generation
	link  seedlog.Link
	bytes int
}

// keep adds the generation that the chain has grown by.
func (r *recentGenerations) keep(link seedlog.Link, body *generation) {
	g, bytes := body.blocks()
	r.add(recentGeneration{g, link, bytes})
}

func (r *recentGenerations) add(g recentGeneration) {
	r.list, r.bytes = append(r.list, g), r.bytes+g.bytes
	for len(r.list) > mostRecent || r.bytes > mostRecentBytes {
		r.bytes -= r.list[0].bytes
		r.list = r.list[1:]
	}
}

// of returns the generation of an entry, if it is here.
func (r *recentGenerations) of(link seedlog.Link) (g Generation, ok bool) {
	i := slices.IndexFunc(r.list, func(x recentGeneration) bool { return x.link == link })
	if i < 0 {
		return g, false
	}
	return r.list[i].Generation, true
}
