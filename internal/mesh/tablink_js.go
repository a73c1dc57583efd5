package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"syscall/js"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// tabToTab connects tabs over WebRTC. Each tells the other, in signed parcels, how to reach it and which certificate
// it has, and the browser refuses another one; so a handshake of our own would show nothing more.
type tabToTab struct {
	dialer
	m     *Mesh
	taken chan *rtcConn // connections that others began
	done  chan struct{}
}

// openToTabs has this tab connect to others, where its page offers to make connections.
func (m *Mesh) openToTabs(key crypto.PrivKey) error {
	if !hasWebRTC() {
		return nil
	}
	d, err := newDialer(tabWay, ma.P_WEBRTC, "webrtc", key, m.bans)
	if err != nil {
		return err
	}
	s, ok := m.host.Network().(*swarm.Swarm)
	if !ok {
		return errors.ErrUnsupported
	}
	t := &tabToTab{dialer: d, m: m, taken: make(chan *rtcConn), done: make(chan struct{})}
	if err := s.AddTransport(t); err != nil {
		return err
	}
	m.acceptTab = t.accept
	return s.Listen(tabAddress)
}

// tabWay is how a tab leads to another one. No address that somebody tells does.
const tabWay Way = "WebRTC with other tabs"

// CanDial accepts the address of all tabs.
func (t *tabToTab) CanDial(a ma.Multiaddr) bool { return isTab(a) }

// Dial makes the connection that this tab has decided to offer.
func (t *tabToTab) Dial(ctx context.Context, addr ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	o, answer := t.m.tabs.offer(id)
	if o == nil {
		return nil, fmt.Errorf("%w: no connection to that tab is wanted", ErrUnreachable)
	}
	c := newRTCConn(&t.dialer, t, addr, addr)
	return t.admit(c, id, t.offer(ctx, c, o, answer))
}

func (t *tabToTab) offer(ctx context.Context, c *rtcConn, o *tabOffer, answer <-chan *signal) error {
	c.post(map[string]any{"op": "offer", "stun": t.stun()})
	ours, err := c.describe(ctx)
	if err != nil {
		return err
	}
	if err := t.m.sendSignal(o.to, o.over, &signal{Kind: offering, Number: o.number, Theirs: ours}); err != nil {
		return err
	}
	theirs, err := awaitAnswer(ctx, answer)
	if err != nil {
		return err
	}
	c.post(map[string]any{"op": "answered", "theirs": fromDescription(theirs)})
	return c.meetTab(ctx, o.to)
}

// accept takes a connection that another tab offers, and answers over the neighbor that brought the offer.
func (t *tabToTab) accept(from, via peer.ID, offer *signal) error {
	ctx, cancel := context.WithTimeout(t.m.ctx, tabShake)
	defer cancel()
	c := newRTCConn(&t.dialer, t, tabAddress, tabAddress)
	err := t.answer(ctx, c, from, via, offer)
	if err == nil && !t.gater.InterceptSecured(network.DirInbound, from, c) {
		err = fmt.Errorf("%s is banned", from)
	}
	if err != nil {
		c.Close()
		return err
	}
	select {
	case t.taken <- c:
		return nil
	case <-t.done:
		return errors.Join(transport.ErrListenerClosed, c.Close())
	}
}

func (t *tabToTab) answer(ctx context.Context, c *rtcConn, from, via peer.ID, offer *signal) error {
	c.post(map[string]any{"op": "accept", "theirs": fromDescription(&offer.Theirs), "stun": t.stun()})
	ours, err := c.describe(ctx)
	if err != nil {
		return err
	}
	if err := t.m.sendSignal(from, []peer.ID{via}, &signal{Kind: answering, Number: offer.Number, Theirs: ours}); err != nil {
		return err
	}
	return c.meetTab(ctx, from)
}

// stun lists the nodes that the browser asks where it is.
func (t *tabToTab) stun() []any {
	list := make([]any, 0, maxStunServers)
	for _, at := range t.m.book.stunServers() {
		list = append(list, at)
	}
	return list
}

// describe waits for what the other tab has to know of this one.
func (c *rtcConn) describe(ctx context.Context) (description, error) {
	select {
	case d := <-c.described:
		return d, d.check()
	case <-c.done:
		return description{}, c.why()
	case <-ctx.Done():
		return description{}, ctx.Err()
	}
}

// meetTab waits until the browser has connected to a tab that has the certificate it named.
func (c *rtcConn) meetTab(ctx context.Context, id peer.ID) error {
	ctx, cancel := context.WithTimeout(ctx, tabShake)
	defer cancel()
	c.mu.Lock()
	s := c.streams[0]
	c.mu.Unlock()
	if s == nil {
		return c.why()
	}
	if err := s.awaitOpen(ctx); err != nil {
		return cmp.Or(c.why(), err)
	}
	go func() {
		select {
		case <-s.gone:
			c.fail(errLeft)
		case <-c.done:
		}
	}()
	key, err := id.ExtractPublicKey()
	c.peer, c.key = id, key
	return err
}

// errLeft is why a connection ends whose first channel does: browsers close all when a tab goes.
var errLeft = errors.New("the other tab is gone")

// Listen takes connections that other tabs begin.
func (t *tabToTab) Listen(ma.Multiaddr) (transport.Listener, error) { return &tabListener{t}, nil }

type tabListener struct{ *tabToTab }

// Accept waits for a connection that another tab began.
func (l *tabListener) Accept() (transport.CapableConn, error) {
	select {
	case c := <-l.taken:
		return c, nil
	case <-l.done:
		return nil, transport.ErrListenerClosed
	}
}

// Close ends Accept.
func (l *tabListener) Close() error {
	close(l.done)
	return nil
}

// Addr is no address of a network: a page does not learn its own.
func (l *tabListener) Addr() net.Addr { return tabAddr{} }

// Multiaddr is that of all tabs.
func (l *tabListener) Multiaddr() ma.Multiaddr { return tabAddress }

type tabAddr struct{}

func (tabAddr) Network() string { return "webrtc" }
func (tabAddr) String() string  { return tabAddress.String() }

// toDescription reads what the page says of this tab; check refuses what is wrong with it.
func toDescription(v js.Value) (d description) {
	d = description{User: v.Get("user").String(), Password: v.Get("password").String(), Fingerprint: toGo(v.Get("fingerprint"))}
	places := v.Get("places")
	for i := range places.Length() {
		p := places.Index(i)
		d.Places = append(d.Places, place{Host: p.Get("host").String(), Port: uint16(p.Get("port").Int()), Priority: uint32(p.Get("priority").Float())})
	}
	return d
}

// fromDescription is a description as the page reads it.
func fromDescription(d *description) map[string]any {
	places := make([]any, len(d.Places))
	for i, p := range d.Places {
		places[i] = map[string]any{"host": p.Host, "port": int(p.Port), "priority": float64(p.Priority)}
	}
	return map[string]any{"user": d.User, "password": d.Password, "fingerprint": toJS(d.Fingerprint), "places": places}
}
