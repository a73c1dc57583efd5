package daemon

import (
	"maps"

	"github.com/evoswarm/evoswarm/node/httpd"
)

// What this computer did for all its runs counts, also what a heavier branch replaced.

// logged is how many evaluations of this computer in the present run were logged, ever. The caller holds mu.
func (n *Node) logged() uint64 {
	own := n.peer.Status().Own
	return max(n.base+own.Logged+own.Replaced, n.memory.Lifetime[n.memory.Active])
}

// countLifetime adds up the runs of this folder.
func (n *Node) countLifetime(s *httpd.Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Lifetime, s.Runs = n.logged(), 1
	for run, evaluations := range n.memory.Lifetime { //lint:sorted a sum
		if run != n.memory.Active {
			s.Lifetime, s.Runs = s.Lifetime+evaluations, s.Runs+1
		}
	}
	s.Branches = len(n.run.Branches())
}

// saveLifetime remembers the count of the present run.
func (n *Node) saveLifetime() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.peer == nil {
		return
	}
	m := n.memory
	m.Lifetime = maps.Clone(m.Lifetime)
	if m.Lifetime == nil {
		m.Lifetime = map[string]uint64{}
	}
	if now := n.logged(); m.Lifetime[m.Active] != now {
		m.Lifetime[m.Active] = now
		if err := m.write(n.cfg.Data); err != nil {
			n.cfg.Logger.Warn("remembering what was computed here", "error", err)
			return
		}
	}
	n.memory = m
}
