package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall/js"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/security/noise/pb"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// webTransport dials over the browser's WebTransport, by libp2p's specification: the browser checks the certificate by
// the hashes in the address, a Noise handshake on the first stream shows who is there and that it names these hashes,
// and every further stream is a stream.
type webTransport struct{ dialer }

// webTransportPath is where nodes answer, by the specification.
const webTransportPath = "/.well-known/libp2p-webtransport?type=noise"

func newWebTransport(key crypto.PrivKey, gater connmgr.ConnectionGater) (*webTransport, error) {
	d, err := newDialer(WebTransport, ma.P_WEBTRANSPORT, "webtransport", key, gater)
	return &webTransport{d}, err
}

// hasWebTransport tells whether the browser has it: on pages that came over TLS or from this computer.
func hasWebTransport() bool { return js.Global().Get("WebTransport").Truthy() }

// Dial opens a session and finds out who is there.
func (t *webTransport) Dial(ctx context.Context, addr ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	hashes, err := certhashes(addr)
	if err != nil {
		return nil, err
	}
	_, at, err := manet.DialArgs(addr)
	if err != nil {
		return nil, err
	}
	allowed := make([]any, len(hashes))
	for i, h := range hashes {
		allowed[i] = map[string]any{"algorithm": "sha-256", "value": toJS(h)}
	}
	session, err := try(func() js.Value {
		return js.Global().Get("WebTransport").New("https://"+at+webTransportPath, map[string]any{"serverCertificateHashes": allowed})
	})
	if err != nil {
		return nil, err
	}
	c := &webTransportConn{dialed: dialed{dialer: &t.dialer, of: t, local: webTransportLocal, remote: addr}, session: session, done: make(chan struct{})}
	go func() {
		_, _ = await(context.Background(), session.Get("closed"))
		c.end()
	}()
	if _, err := await(ctx, session.Get("ready")); err != nil {
		c.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("nobody answers over UDP, or with another certificate than the address names (%w)", err)
	}
	return t.admit(c, id, c.meet(ctx, id, hashes))
}

// errCerthash is returned where a node does not say that the certificates of the address are its own.
var errCerthash = errors.New("the node does not confirm the certificates that the address names")

// meet makes the Noise handshake on the first stream, which serves nothing else.
func (c *webTransportConn) meet(ctx context.Context, id peer.ID, hashes [][]byte) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	confirmed := false
	session, err := c.dialer.noise.WithSessionOptions(noise.EarlyData(received(func(e *pb.NoiseExtensions) error {
		if confirmed = confirms(e.GetWebtransportCerthashes(), hashes); !confirmed {
			return errCerthash
		}
		return nil
	}), nil))
	if err != nil {
		return err
	}
	secure, err := session.SecureOutbound(ctx, streamConn{s}, id)
	if err != nil {
		return err
	}
	if !confirmed { // Noise calls received in every handshake that succeeds
		return errCerthash
	}
	c.peer, c.key = secure.RemotePeer(), secure.RemotePublicKey()
	c.incoming = c.session.Get("incomingBidirectionalStreams").Call("getReader")
	return nil
}

// received looks at what the other side says within the Noise handshake.
type received func(*pb.NoiseExtensions) error

func (received) Send(context.Context, net.Conn, peer.ID) *pb.NoiseExtensions { return nil }

func (f received) Received(_ context.Context, _ net.Conn, e *pb.NoiseExtensions) error { return f(e) }

// streamConn lets a handshake have a stream for a connection.
type streamConn struct{ network.MuxedStream }

func (streamConn) LocalAddr() net.Addr  { return nil }
func (streamConn) RemoteAddr() net.Addr { return nil }

var webTransportLocal = ma.StringCast("/ip4/0.0.0.0/udp/0/quic-v1/webtransport")

// webTransportConn is a session whose peer is known.
type webTransportConn struct {
	dialed
	session  js.Value
	incoming js.Value // reads the streams that the other side opens
	done     chan struct{}
	once     sync.Once
}

func (c *webTransportConn) end() { c.once.Do(func() { close(c.done) }) }

// Close ends the session.
func (c *webTransportConn) Close() error {
	c.end()
	_, _ = try(func() js.Value { return c.session.Call("close") }) // it throws while the session is being opened
	return nil
}

// CloseWithError ends the session; the code is not told.
func (c *webTransportConn) CloseWithError(network.ConnErrorCode) error { return c.Close() }

// IsClosed reports whether the session has ended.
func (c *webTransportConn) IsClosed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// OpenStream opens a stream.
func (c *webTransportConn) OpenStream(ctx context.Context) (network.MuxedStream, error) {
	return c.open(ctx)
}

func (c *webTransportConn) open(ctx context.Context) (*webTransportStream, error) {
	if c.IsClosed() {
		return nil, net.ErrClosed
	}
	promise, err := try(func() js.Value { return c.session.Call("createBidirectionalStream") })
	if err != nil {
		return nil, err
	}
	v, err := await(ctx, promise)
	if err != nil {
		return nil, err
	}
	return newWebTransportStream(v), nil
}

// AcceptStream waits for a stream that the other side opens. Those that nobody waits for stay in the browser, which has
// bounds for them.
func (c *webTransportConn) AcceptStream() (network.MuxedStream, error) {
	v, err := await(context.Background(), c.incoming.Call("read"))
	if err != nil {
		return nil, err
	}
	if v.Get("done").Bool() {
		return nil, net.ErrClosed
	}
	return newWebTransportStream(v.Get("value")), nil
}

// webTransportStream is a stream of a session. The browser reads ahead as far as its flow control goes, and lets a
// writer wait for the reader at the other side.
type webTransportStream struct {
	reader, writer js.Value

	reading sync.Mutex
	rest    []byte // read and not taken yet
	ended   error
	pending chan settled // a read that has begun

	unread         chan struct{} // closed by CloseRead
	noRead, noMore sync.Once
	deadlines
}

func newWebTransportStream(v js.Value) *webTransportStream {
	return &webTransportStream{reader: v.Get("readable").Call("getReader"), writer: v.Get("writable").Call("getWriter"), unread: make(chan struct{})}
}

// Read takes what has come, or waits for it.
func (s *webTransportStream) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for len(s.rest) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		if s.pending == nil {
			pending := make(chan settled, 1)
			s.pending = pending
			go func() {
				v, err := await(context.Background(), s.reader.Call("read"))
				pending <- settled{v, err}
			}()
		}
		select {
		case got := <-s.pending:
			s.pending = nil
			switch {
			case got.err != nil:
				s.ended = &network.StreamError{Remote: true, TransportError: got.err}
			case got.value.Get("done").Bool():
				s.ended = io.EOF
			default:
				s.rest = toGo(got.value.Get("value"))
			}
		case <-s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case <-s.unread:
			return 0, network.ErrReset
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write waits until the browser has taken the bytes.
func (s *webTransportStream) Write(b []byte) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	late := s.writeBy.passed()
	go func() {
		select {
		case <-late:
			cancel()
		case <-ctx.Done():
		}
	}()
	promise, err := try(func() js.Value { return s.writer.Call("write", toJS(b)) })
	if err == nil {
		_, err = await(ctx, promise)
	}
	switch {
	case ctx.Err() != nil:
		return 0, os.ErrDeadlineExceeded
	case err != nil:
		return 0, &network.StreamError{Remote: true, TransportError: err}
	}
	return len(b), nil
}

// Close ends both directions.
func (s *webTransportStream) Close() error {
	return errors.Join(s.CloseRead(), s.CloseWrite())
}

// CloseWrite ends this side's direction, after what was written.
func (s *webTransportStream) CloseWrite() error {
	s.noMore.Do(func() { quietly(func() js.Value { return s.writer.Call("close") }) })
	return nil
}

// CloseRead tells the other side that nothing more is read.
func (s *webTransportStream) CloseRead() error {
	s.noRead.Do(func() {
		close(s.unread)
		quietly(func() js.Value { return s.reader.Call("cancel") })
	})
	return nil
}

// Reset breaks both directions off.
func (s *webTransportStream) Reset() error {
	s.noMore.Do(func() {})
	quietly(func() js.Value { return s.writer.Call("abort") })
	return s.CloseRead()
}

// ResetWithError is Reset; the code is not told.
func (s *webTransportStream) ResetWithError(network.StreamErrorCode) error { return s.Reset() }
