//go:build !js

package mesh

import (
	"errors"
	"sync"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	webrtc "github.com/libp2p/go-libp2p/p2p/transport/webrtc"
	ma "github.com/multiformats/go-multiaddr"
)

// Limits of WebRTC-Direct. A connection reserves 2.6 MB for what it may send unread, and who begins a handshake has not
// shown yet that its address is its own, so it may have any number of them.
const (
	maxRTC         = 256 // connections: a third of memoryLimit
	maxRTCPerBlock = 64  // of a block of addresses
	maxRTCShaking  = 64  // in a handshake: a quarter of what all transports together may have
)

// newWebRTC makes the transport that tabs of any page can dial. It has limits of its own, within those of all.
// On its port the node answers STUN, too.
func newWebRTC(key crypto.PrivKey, psk pnet.PSK, gater connmgr.ConnectionGater, resources network.ResourceManager, listen listenUDP) (*webrtc.WebRTCTransport, error) {
	return webrtc.New(key, psk, gater, newRTCLimits(resources), answersSTUN(listen), webrtc.WithDialerVersion(2))
}

// errTooManyRTC is returned for a connection that comes too many.
var errTooManyRTC = errors.New("too many connections over WebRTC")

// rtcLimits counts the connections of the WebRTC transport before the resource manager does.
type rtcLimits struct {
	network.ResourceManager
	mu      sync.Mutex
	open    int
	shaking int
	blocks  map[block]int
}

func newRTCLimits(resources network.ResourceManager) *rtcLimits {
	return &rtcLimits{ResourceManager: resources, blocks: make(map[block]int)}
}

// OpenConnection counts a connection whose handshake begins, or refuses it.
func (l *rtcLimits) OpenConnection(dir network.Direction, usefd bool, at ma.Multiaddr) (network.ConnManagementScope, error) {
	b := blockOf(at)
	if !l.take(b) {
		return nil, errTooManyRTC
	}
	scope, err := l.ResourceManager.OpenConnection(dir, usefd, at)
	if err != nil {
		l.release(b, true)
		return nil, err
	}
	return &rtcScope{ConnManagementScope: scope, limits: l, at: b, shaking: true}, nil
}

func (l *rtcLimits) take(b block) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= maxRTC || l.shaking >= maxRTCShaking || l.blocks[b] >= maxRTCPerBlock {
		return false
	}
	l.open++
	l.shaking++
	l.blocks[b]++
	return true
}

func (l *rtcLimits) release(b block, shaking bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if shaking {
		l.shaking--
	}
	if l.blocks[b]--; l.blocks[b] == 0 {
		delete(l.blocks, b)
	}
}

// shaken notes the end of a handshake that succeeded.
func (l *rtcLimits) shaken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shaking--
}

// rtcScope is one connection's share of the limits.
type rtcScope struct {
	network.ConnManagementScope
	limits  *rtcLimits
	at      block
	mu      sync.Mutex
	shaking bool
	done    bool
}

// SetPeer ends the handshake: the other side has shown its key, and that it is where it says.
func (s *rtcScope) SetPeer(id peer.ID) error {
	if err := s.ConnManagementScope.SetPeer(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shaking && !s.done {
		s.shaking = false
		s.limits.shaken()
	}
	return nil
}

// Done gives the share back.
func (s *rtcScope) Done() {
	s.ConnManagementScope.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.done = true
		s.limits.release(s.at, s.shaking)
	}
}
