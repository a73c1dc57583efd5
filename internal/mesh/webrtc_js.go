package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall/js"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multihash"
)

// webRTC dials WebRTC-Direct, version 2, by libp2p's specification: the browser checks the node's certificate by the
// hash in the address, a Noise handshake on the first data channel binds both certificates to the keys, and every
// further channel is a stream. Workers have no RTCPeerConnection, so the page (web/src/rtc.ts) makes one at the other
// end of a port.
type webRTC struct{ dialer }

// Limits of a connection. WebRTC has no way to let a sender wait for a reader, and what a node may send unasked is
// bounded here alone.
const (
	maxRTCUnread   = 16 << 20 // bytes that came and were not read, of all streams
	maxRTCUnsent   = 256 << 10
	maxRTCStreams  = 256
	maxRTCIncoming = 64   // streams that wait to be accepted
	maxRTCChannel  = 1000 // number of a data channel: Chromium knows none above 1023, and nodes count them up
)

func newWebRTC(key crypto.PrivKey, gater connmgr.ConnectionGater) (*webRTC, error) {
	d, err := newDialer(WebRTC, ma.P_WEBRTC_DIRECT, "webrtc-direct", key, gater)
	return &webRTC{d}, err
}

// hasWebRTC tells whether the page offers to make connections.
func hasWebRTC() bool { return js.Global().Get("openRTC").Type() == js.TypeFunction }

// Dial has the page connect, and finds out who is there.
func (t *webRTC) Dial(ctx context.Context, addr ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	hashes, err := certhashes(addr)
	if err != nil {
		return nil, err
	}
	if len(hashes) != 1 {
		return nil, fmt.Errorf("the address names %d certificates, and WebRTC has one", len(hashes))
	}
	_, at, err := manet.DialArgs(addr)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	c := newRTCConn(&t.dialer, t, rtcLocal, addr)
	c.post(map[string]any{"op": "dial", "host": host, "port": port, "fingerprint": toJS(hashes[0])})
	return t.admit(c, id, c.meet(ctx, id, hashes[0]))
}

var rtcLocal = ma.StringCast("/ip4/0.0.0.0/udp/0/webrtc-direct")

// rtcConn is a connection that the page holds.
type rtcConn struct {
	dialed
	port      js.Value
	onMessage js.Func
	ours      chan []byte      // the fingerprint of this side's certificate
	described chan description // of this side, for another tab
	incoming  chan *rtcStream
	done      chan struct{}

	mu      sync.Mutex
	ended   error // why it is closed
	streams map[int]*rtcStream
	next    int
	unread  int
}

func newRTCConn(d *dialer, of transport.Transport, local, remote ma.Multiaddr) *rtcConn {
	c := &rtcConn{
		dialed: dialed{dialer: d, of: of, local: local, remote: remote}, port: js.Global().Call("openRTC"),
		ours: make(chan []byte, 1), described: make(chan description, 1),
		incoming: make(chan *rtcStream, maxRTCIncoming), done: make(chan struct{}), streams: make(map[int]*rtcStream), next: 1,
	}
	c.streams[0] = newRTCStream(c, 0) // for the handshake
	c.onMessage = js.FuncOf(func(_ js.Value, args []js.Value) any {
		c.hear(args[0].Get("data"))
		return nil
	})
	c.port.Set("onmessage", c.onMessage)
	return c
}

// meet waits for the connection and makes the Noise handshake, which the listener begins.
func (c *rtcConn) meet(ctx context.Context, id peer.ID, theirs []byte) error {
	var ours []byte
	select {
	case ours = <-c.ours:
	case <-c.done:
		return c.why()
	case <-ctx.Done():
		return ctx.Err()
	}
	s := c.streams[0]
	if err := s.awaitOpen(ctx); err != nil {
		return err
	}
	prologue := []byte("libp2p-webrtc-noise:")
	for _, hash := range [][]byte{ours, theirs} {
		mh, err := multihash.Encode(hash, multihash.SHA2_256)
		if err != nil {
			return err
		}
		prologue = append(prologue, mh...)
	}
	session, err := c.dialer.noise.WithSessionOptions(noise.Prologue(prologue))
	if err != nil {
		return err
	}
	secure, err := session.SecureInbound(ctx, streamConn{s}, id)
	if err != nil {
		return err
	}
	c.peer, c.key = secure.RemotePeer(), secure.RemotePublicKey()
	return nil
}

// hear takes what the page says. It runs in the browser's event, so it must not wait for anything.
func (c *rtcConn) hear(told js.Value) {
	op := told.Get("op").String()
	switch op {
	case "local":
		select {
		case c.ours <- toGo(told.Get("fingerprint")):
		default:
		}
		return
	case "described":
		select {
		case c.described <- toDescription(told.Get("ours")):
		default:
		}
		return
	case "ended":
		c.fail(errors.New(told.Get("why").String()))
		return
	case "incoming":
		c.take(told.Get("channel").Int(), told.Get("id").Int())
		return
	}
	c.mu.Lock()
	s := c.streams[told.Get("channel").Int()]
	c.mu.Unlock()
	if s == nil {
		return // it was shut meanwhile
	}
	switch op {
	case "opened":
		s.open()
	case "message":
		if err := s.receive(toGo(told.Get("data"))); err != nil {
			c.fail(err)
		}
	case "sent":
		s.sent(told.Get("bytes").Int())
	case "shut":
		s.cut()
	}
}

// take notes a stream that the node has opened. What is too much is shut.
func (c *rtcConn) take(channel, id int) {
	if id > maxRTCChannel {
		c.fail(errors.New("the connection has no numbers for streams left and is made again"))
		return
	}
	s := newRTCStream(c, channel)
	s.open()
	c.mu.Lock()
	full := len(c.streams) >= maxRTCStreams
	if !full {
		select {
		case c.incoming <- s:
			c.streams[channel] = s
		default:
			full = true
		}
	}
	c.mu.Unlock()
	if full {
		c.post(map[string]any{"op": "shut", "channel": channel})
	}
}

func (c *rtcConn) post(order map[string]any) { c.port.Call("postMessage", order) }

// forget notes that a stream has ended in both directions.
func (c *rtcConn) forget(s *rtcStream) {
	c.mu.Lock()
	_, known := c.streams[s.channel]
	delete(c.streams, s.channel)
	c.mu.Unlock()
	if known {
		c.post(map[string]any{"op": "shut", "channel": s.channel})
	}
}

// errFlood is why a connection ends whose node sends much more than is read.
var errFlood = fmt.Errorf("the node sent more than %d MiB that was not read", maxRTCUnread>>20)

// hold counts bytes that came, and those that were read, which are less than none.
func (c *rtcConn) hold(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unread += n; c.unread > maxRTCUnread {
		return errFlood
	}
	return nil
}

// fail ends the connection. It may run in the browser's event.
func (c *rtcConn) fail(why error) {
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return
	}
	c.ended = why
	streams := c.streams
	c.streams = make(map[int]*rtcStream)
	c.mu.Unlock()
	close(c.done)
	for _, s := range streams {
		s.cut()
	}
	c.post(map[string]any{"op": "end"})
	c.port.Call("close")
	js.Global().Call("setTimeout", js.FuncOf(func(js.Value, []js.Value) any { // after the event that may be under way
		c.onMessage.Release()
		return nil
	}), 0)
}

func (c *rtcConn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Close ends the connection.
func (c *rtcConn) Close() error {
	c.fail(net.ErrClosed)
	return nil
}

// CloseWithError ends the connection; WebRTC tells no code.
func (c *rtcConn) CloseWithError(network.ConnErrorCode) error { return c.Close() }

// IsClosed reports whether the connection has ended.
func (c *rtcConn) IsClosed() bool { return c.why() != nil }

// OpenStream opens a data channel.
func (c *rtcConn) OpenStream(ctx context.Context) (network.MuxedStream, error) {
	c.mu.Lock()
	if c.ended != nil || len(c.streams) >= maxRTCStreams {
		defer c.mu.Unlock()
		if c.ended != nil {
			return nil, c.ended
		}
		return nil, fmt.Errorf("%d streams are open", maxRTCStreams)
	}
	s := newRTCStream(c, c.next)
	c.streams[c.next] = s
	c.next++
	c.mu.Unlock()
	c.post(map[string]any{"op": "open", "channel": s.channel})
	if err := s.awaitOpen(ctx); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return s, nil
}

// AcceptStream waits for a stream that the node opens.
func (c *rtcConn) AcceptStream() (network.MuxedStream, error) {
	select {
	case s := <-c.incoming:
		return s, nil
	case <-c.done:
		return nil, c.why()
	}
}
