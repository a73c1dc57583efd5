package mesh

import (
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// A link is a connected peer of the same run that said hello. A peer that comes back on another connection replaces the
// one that it lost.

// Links lists the linked peers, sorted.
func (m *Mesh) Links() []Linked {
	m.mu.Lock()
	list := slices.Collect(maps.Values(m.links))
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b Linked) int { return a.Peer.Compare(b.Peer) })
	return list
}

// chosen reports whether this peer dialed an address that leads to the other one. A tab that somebody told of is a
// stranger.
func chosen(c network.Conn) bool {
	return c.Stat().Direction == network.DirOutbound && !isTab(c.RemoteMultiaddr())
}

// link reports a connected peer of the same run.
func (m *Mesh) link(id peer.ID, l Linked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, known := m.links[id]; known {
		old.Hub, old.Relayed = l.Hub, l.Relayed // as it is now
		m.links[id] = old
		return
	}
	if m.host.Network().Connectedness(id) != network.Connected || m.bans.banned(id) {
		return
	}
	m.links[id] = l
	if l.Hub && m.neighbors.proven(id) {
		m.host.ConnManager().Protect(id, "hub")
	}
	m.events.link(l)
	m.release(id)
	m.log.Debug("linked", "peer", l.Peer.Short(), "hub", l.Hub)
}

// parallel is within what time a peer may dial several addresses of this one, to keep the connection that is up first.
const parallel = 3 * time.Second

// supersede closes the connections that a peer had dialed before it dialed c. A peer dials again only when it has lost
// them, after a crash or on another network, and this side would go unheard on them until they time out. It runs before
// anything is received on c.
func (m *Mesh) supersede(c network.Conn) {
	if c.Stat().Direction != network.DirInbound {
		return
	}
	id := c.RemotePeer()
	var lost []network.Conn
	for _, old := range m.host.Network().ConnsToPeer(id) {
		if old.Stat().Direction == network.DirInbound && (isCircuit(c.RemoteMultiaddr()) || !isCircuit(old.RemoteMultiaddr())) && c.Stat().Opened.Sub(old.Stat().Opened) > parallel {
			lost = append(lost, old)
		}
	}
	if len(lost) == 0 {
		return
	}
	m.mu.Lock()
	m.removeLink(id) // its hello links it again
	if m.pubsub != nil && m.forgetting[id] == nil {
		m.forgetting[id] = make(chan struct{})
	}
	m.mu.Unlock()
	for _, old := range lost {
		_ = old.Close()
	}
}

// forgetful is how long gossip may take to see that a connection has ended.
const forgetful = 5 * time.Second

// awaitForgotten returns once gossip has forgotten the connections of a peer that were superseded. When gossip sees one
// end, it forgets which topics the peer is subscribed to, those too that the peer has named on its new connection, and
// the peer names them only once.
func (m *Mesh) awaitForgotten(id peer.ID) {
	m.mu.Lock()
	done := m.forgetting[id]
	m.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(forgetful):
		m.forgotten(id)
	case <-m.ctx.Done():
	}
}

// forgotten notes that gossip has nothing of a peer's superseded connections any more.
func (m *Mesh) forgotten(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if done := m.forgetting[id]; done != nil {
		close(done)
		delete(m.forgetting, id)
	}
}

// unlink runs after every disconnection; only the last one counts.
func (m *Mesh) unlink(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.host.Network().Connectedness(id) != network.Connected {
		m.removeLink(id)
		delete(m.forgetting, id)
	}
}

// removeLink reports that a peer is not linked any more. The caller holds mu.
func (m *Mesh) removeLink(id peer.ID) {
	l, known := m.links[id]
	if !known {
		return
	}
	delete(m.links, id)
	delete(m.visits.used, id)
	m.host.ConnManager().Unprotect(id, "hub")
	m.events.link(Unlinked{l.Peer})
	m.log.Debug("unlinked", "peer", l.Peer.Short())
}
