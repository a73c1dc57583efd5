package sim

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxSends and maxWork bound what one step of an honest peer may ask for.
	maxSends = 64
	maxWork  = 2 * seedlog.MaxClaims
	// sampleEvery is how often, in ticks, the sizes of tables are looked at.
	sampleEvery = 64
)

// online is what the invariants that hold at every step need to remember.
type online struct {
	votes        map[place]coordinator.Peer // of honest peers: one for a term, over all lives
	entries      map[place]seedlog.Link     // of honest leaders: one for a height
	acknowledged map[seedlog.Link]bool      // entries that honest leaders sent out
	weights      map[int]uint64             // of the heads, by node
	largest      map[string]int             // table, of all honest peers
	maxTable     int                        // entries that a table may have
}

// place is what a peer may sign once: a vote in a term (height 0), or an entry at a height of a term.
type place struct {
	peer         coordinator.Peer
	term, height uint64
}

// newOnline watches over a swarm of so many nodes.
func newOnline(nodes int) online {
	return online{votes: make(map[place]coordinator.Peer), entries: make(map[place]seedlog.Link), acknowledged: make(map[seedlog.Link]bool),
		weights: make(map[int]uint64), largest: make(map[string]int), maxTable: max(maxTable, 2*nodes)}
}

// watch holds the invariants of a step against what it gave.
func (s *Swarm) watch(n *node, e coordinator.Event, a *coordinator.Actions) {
	excuse := false
	for _, note := range a.Notes {
		switch note.Kind {
		case coordinator.NoteLeader:
			s.Report.Leaders++
		case coordinator.NoteReorg:
			excuse = true
			if n.honest() {
				s.Report.Reorgs++
			}
		case coordinator.NoteFalse, coordinator.NoteBad:
			excuse = true
		case coordinator.NoteBan:
			excuse = true
			s.checkBan(n, note)
			s.noteFound(n, note.Peer)
		}
		s.trace("node %d notes %s: %s", n.index, note.Kind, note.Text)
	}
	if !n.honest() {
		return
	}
	if len(a.Send) > maxSends || len(a.Work) > maxWork {
		kinds := make(map[string]int)
		for _, envelope := range a.Send {
			kinds[fmt.Sprintf("%T", envelope.Message)]++
		}
		s.fail("node %d asks for %d messages and %d evaluations in one step, on %T: %v", n.index, len(a.Send), len(a.Work), e, kinds)
	}
	if a.Head == nil && !excuse {
		return
	}
	v := n.coord.Snapshot()
	if v.Weight < s.online.weights[n.index] && !excuse {
		s.fail("the head of node %d fell from weight %d to %d without a note, on %T", n.index, s.online.weights[n.index], v.Weight, e)
	}
	s.online.weights[n.index] = v.Weight
	if a.Head != nil {
		s.Report.Deepest = max(s.Report.Deepest, uint64(len(n.disk.chain))-min(a.Head.Fork, uint64(len(n.disk.chain))))
		if s.opts.Trace != nil {
			s.trace("node %d moves from height %d over %d to %d, %s", n.index, len(n.disk.chain), a.Head.Fork, v.Height, v.Head)
		}
	}
}

// watchSend holds the invariants of what leaves an honest peer.
func (s *Swarm) watchSend(n *node, envelope *coordinator.Envelope) {
	if !n.honest() {
		return
	}
	switch m := envelope.Message.(type) {
	case *coordinator.VoteReply:
		if m.Granted && !m.Pre {
			s.voted(n, m.Term, envelope.To)
		}
	case *coordinator.VoteRequest:
		if !m.Pre {
			s.voted(n, m.Term, n.peer)
		}
	case *coordinator.Handover:
		s.voted(n, m.Term, envelope.To)
	case *coordinator.DoubleVote:
		s.exposed(n, m.Voter)
	case *coordinator.Equivocation:
		if e, err := seedlog.DecodeEntry(m.First); err == nil {
			s.exposed(n, e.Leader)
		}
	case *coordinator.Announce:
		s.announced(n, m.Entry)
	case *coordinator.Segment:
		if s.opts.Trusted && len(m.Generations) == 1 {
			s.announced(n, m.Generations[0].Entry)
		}
	}
}

func (s *Swarm) voted(n *node, term uint64, candidate coordinator.Peer) {
	at := place{peer: n.peer, term: term}
	if before, ok := s.online.votes[at]; ok && before != candidate {
		s.fail("node %d voted for %s and for %s in term %d", n.index, s.name(before), s.name(candidate), term)
	}
	s.online.votes[at] = candidate
}

// exposed notes evidence that a peer signed twice. There must be none against honest ones.
func (s *Swarm) exposed(by *node, p coordinator.Peer) {
	s.Report.Doubles++
	if n := s.byPeer[p]; n != nil && n.honest() {
		s.fail("node %d shows that the honest node %d signed twice", by.index, n.index)
	}
}

func (s *Swarm) announced(n *node, block []byte) {
	link := seedlog.LinkOf(block)
	e, err := seedlog.DecodeEntry(block)
	if err != nil {
		s.fail("node %d announced no entry: %w", n.index, err)
		return
	}
	if _, ok := n.disk.blocks[link]; e.Leader == n.peer && !ok {
		s.fail("node %d announced height %d before it saved it", n.index, e.Height)
	}
	at := place{n.peer, e.Term, e.Height}
	if before, ok := s.online.entries[at]; e.Leader == n.peer && ok && before != link {
		s.fail("node %d signed two entries of term %d for height %d: %s and %s", n.index, e.Term, e.Height, before, link)
	} else if e.Leader == n.peer && !ok {
		s.online.entries[at] = link
		s.online.acknowledged[link] = true
		s.Report.Entries++
		s.Report.Claims += int(e.NamesClaims())
	}
}

// checkBan fails the run when an honest node cuts off another honest one.
func (s *Swarm) checkBan(by *node, note coordinator.Note) {
	if !by.honest() {
		return
	}
	s.Report.Bans++
	if n := s.byPeer[note.Peer]; n != nil && n.honest() {
		s.fail("node %d cut off the honest node %d: %s", by.index, n.index, note.Text)
	}
}

// sample looks at the sizes of all tables of all honest peers.
func (s *Swarm) sample() {
	if s.now%sampleEvery != 0 {
		return
	}
	highest := s.Highest()
	for _, n := range s.nodes {
		if n.coord == nil || !n.honest() {
			continue
		}
		chain := int(max(n.coord.Snapshot().Height, highest)) // one that is behind fetches what it has to fold
		sizes(reflect.ValueOf(n.coord).Elem(), "", 0, func(table string, size int) {
			s.online.largest[table] = max(s.online.largest[table], size)
			if limit := s.limit(table, chain); size > limit {
				s.fail("table %s of node %d has %d entries, at most %d are right", table, n.index, size, limit)
			}
		})
	}
}

// sizes tells the length of every map and list of a value, tables of tables not included.
func sizes(v reflect.Value, path string, depth int, tell func(table string, size int)) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+v.Type().Field(i).Name
		switch f.Kind() {
		case reflect.Map, reflect.Slice:
			if f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8 {
				continue // bytes are no table
			}
			tell(name, f.Len())
		case reflect.Pointer:
			if t := f.Type().Elem(); t.Kind() == reflect.Struct && !f.IsNil() && depth < 3 && ownTables(t) {
				sizes(f.Elem(), name+".", depth+1, tell)
			}
		case reflect.Struct:
			if depth < 4 && ownTables(f.Type()) {
				sizes(f, name+".", depth+1, tell)
			}
		}
	}
}

// ownTables reports whether a type is one of the coordinator's, and not an entry, which links to all others.
func ownTables(t reflect.Type) bool {
	return t.Name() != "node" && t.Name() != "Config" && t.Name() != "Actions" && (t.PkgPath() == coordinatorPackage || t.PkgPath() == fairPackage)
}

var coordinatorPackage = reflect.TypeFor[coordinator.Coordinator]().PkgPath()

const fairPackage = "github.com/evoswarm/evoswarm/internal/fair"

// limit is how large a table may be. Whatever a stranger can fill has a bound of its own in the coordinator; these are
// what a swarm of this size should need, with room.
func (s *Swarm) limit(table string, chain int) int {
	switch strings.TrimPrefix(table, "based.past.") {
	case "chain.canon":
		return min(chain, maxChain) + 2
	case "chain.nodes":
		return chain + maxSide
	}
	if strings.HasPrefix(table, "work.pool.") && s.rules.Spec.Generation.Batch == seedlog.MaxBatch {
		return maxPool
	}
	return s.online.maxTable
}

// maxTable bounds every table of a peer that is not a chain, in swarms of up to half as many, maxChain the entries of
// the chain that stay in memory, and maxSide what is kept next to it: the half of a split of five minutes, or a
// stranger's chain, until their bytes are too many.
const (
	maxChain = 4096
	maxTable = 4096
	maxSide  = 4096
	maxPool  = 32 * seedlog.MaxClaims // of claims, where entries name thousands
)
