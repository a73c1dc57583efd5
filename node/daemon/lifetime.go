package daemon

import (
	"maps"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/httpd"
)

// What this computer did for all its runs counts, also what a heavier branch replaced.

// logged is how many evaluations of this computer in the lane's run were logged, ever. The caller holds the node's
// lock.
func (l *lane) logged(s peer.Status) uint64 {
	return max(l.base+s.Own.Logged+s.Own.Replaced, l.node.memory.Lifetime[s.Run])
}

// countLifetime adds up the runs of this folder, and says what is kept of branches of a lane's run.
func (n *Node) countLifetime(s *httpd.Status, of *lane) {
	n.mu.Lock()
	defer n.mu.Unlock()
	counted := map[string]bool{}
	for _, l := range n.lanes {
		if p := l.working(); p != nil {
			now := p.Status()
			s.Lifetime, s.Runs, counted[now.Run] = s.Lifetime+l.logged(now), s.Runs+1, true
		}
	}
	for run, evaluations := range n.memory.Lifetime { //lint:sorted a sum
		if !counted[run] {
			s.Lifetime, s.Runs = s.Lifetime+evaluations, s.Runs+1
		}
	}
	if run := of.stored(); run != nil {
		s.Branches = len(run.Branches())
	}
}

// saveLifetime remembers the count of the lane's run.
func (l *lane) saveLifetime() {
	n, p := l.node, l.working()
	if p == nil {
		return
	}
	s := p.Status()
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.memory
	m.Lifetime = maps.Clone(m.Lifetime)
	if m.Lifetime == nil {
		m.Lifetime = map[string]uint64{}
	}
	if now := l.logged(s); m.Lifetime[s.Run] != now {
		m.Lifetime[s.Run] = now
		if err := m.write(n.cfg.Data); err != nil {
			n.cfg.Logger.Warn("remembering what was computed here", "error", err)
			return
		}
	}
	n.memory = m
}
