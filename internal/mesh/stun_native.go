//go:build !js

package mesh

import (
	"net"
	"net/netip"
	"sync"
	"time"

	webrtc "github.com/libp2p/go-libp2p/p2p/transport/webrtc"
	"github.com/pion/stun/v3"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// A node tells who asks on the UDP port of WebRTC-Direct from where the question came (STUN, RFC 8489): so two tabs
// behind NATs learn where they can meet.

// Limits of that. Anybody may ask in another's name, so an answer is little larger than the question, 32 or 44 bytes
// for 20, and a block of addresses is sent few.
const (
	stunRate   = 10  // answers a second to a block
	stunBurst  = 100 // at once: a classroom opens the page
	stunBlocks = 4096
	stunAll    = 1000 // answers a second
	maxStun    = 548  // bytes of a question: what fits a packet everywhere
)

// listenUDP opens a UDP port, or shares one.
type listenUDP = webrtc.ListenUDPFn

// answersSTUN has STUN answered on the ports that a transport opens.
func answersSTUN(listen listenUDP) listenUDP {
	answers := newStunAnswers(time.Now)
	return func(network string, at *net.UDPAddr) (net.PacketConn, error) {
		c, err := listen(network, at)
		if err != nil {
			return nil, err
		}
		return &stunConn{c, answers}, nil
	}
}

// stunConn answers questions, and hands on what is none.
type stunConn struct {
	net.PacketConn
	answers *stunAnswers
}

// ReadFrom returns the next packet that is no question.
func (c *stunConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		asks, answer := c.answers.to(b[:n], from)
		if !asks {
			return n, from, nil
		}
		if answer != nil {
			_, _ = c.WriteTo(answer, from) // it may get lost anyway
		}
	}
}

// stunAnswers makes answers, as many as are allowed.
type stunAnswers struct {
	mu     sync.Mutex
	blocks *fair.Budget[block] // in milliseconds and thousandths of an answer
	all    *fair.Budget[struct{}]
	now    func() time.Time
	begun  time.Time
}

func newStunAnswers(now func() time.Time) *stunAnswers {
	return &stunAnswers{blocks: fair.NewBudget[block](stunRate, 1000*stunBurst, stunBlocks),
		all: fair.NewBudget[struct{}](stunAll, 1000*stunAll, 1), now: now, begun: now()}
}

// to tells whether a packet asks where it came from, and returns the answer; nil: too many were asked for. What names a
// user begins a connection over WebRTC.
func (s *stunAnswers) to(packet []byte, from net.Addr) (asks bool, answer []byte) {
	if len(packet) > maxStun || !stun.IsMessage(packet) {
		return false, nil
	}
	q := &stun.Message{Raw: packet}
	if q.Decode() != nil || q.Type != stun.BindingRequest || q.Contains(stun.AttrUsername) {
		return false, nil
	}
	at, ok := from.(*net.UDPAddr)
	if !ok || !s.allow(at.AddrPort().Addr()) {
		return true, nil
	}
	ip := at.AddrPort().Addr().Unmap().AsSlice()
	a, err := stun.Build(stun.NewTransactionIDSetter(q.TransactionID), stun.BindingSuccess, &stun.XORMappedAddress{IP: ip, Port: at.Port})
	if err != nil {
		return true, nil
	}
	return true, a.Raw
}

func (s *stunAnswers) allow(to netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := uint64(s.now().Sub(s.begun).Milliseconds())
	return s.all.Left(now, struct{}{}) >= 1000 && s.blocks.Take(now, blockAt(to), 1000) && s.all.Take(now, struct{}{}, 1000)
}
