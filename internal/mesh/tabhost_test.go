//go:build !js

package mesh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// The host of tabs meets libp2p's own here, over TCP: nothing in it is of the browser.

const (
	echo    protocol.ID = "/test/echo/1"
	unheard protocol.ID = "/test/unheard/1"
)

// openTabHost makes a tab's host whose connections are over TCP.
func openTabHost(t *testing.T) *tabHost {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	store, err := pstoremem.NewPeerstore()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.AddPrivKey(id, key), store.AddPubKey(id, key.GetPublic())); err != nil {
		t.Fatal(err)
	}
	bus := eventbus.NewBus()
	net, err := swarm.NewSwarm(id, store, bus)
	if err != nil {
		t.Fatal(err)
	}
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}
	secure, err := noise.New(noise.ID, key, muxers)
	if err != nil {
		t.Fatal(err)
	}
	up, err := upgrader.New([]sec.SecureTransport{secure}, muxers, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	over, err := tcp.NewTCPTransport(up, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := net.AddTransport(over); err != nil {
		t.Fatal(err)
	}
	h, err := newTabHost(net, bus, "a tab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	h.start()
	return h
}

// openStock makes a host of libp2p's own that echoes.
func openStock(t *testing.T) host.Host {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	h.SetStreamHandler(echo, answerEcho)
	return h
}

func answerEcho(s network.Stream) {
	_, _ = io.Copy(s, s)
	_ = s.Close()
}

// said sends words over a stream and reads what comes back.
func said(t *testing.T, s network.Stream, words string) (string, error) {
	t.Helper()
	if err := s.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(s, words); err != nil {
		return "", err
	}
	if err := s.CloseWrite(); err != nil {
		return "", err
	}
	back, err := io.ReadAll(s)
	return string(back), err
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// awaitIdentified waits until the other side has heard what the tab is.
func awaitIdentified(t *testing.T, stock host.Host, tab *tabHost) {
	t.Helper()
	await(t, "the other side knows the tab's agent", func() bool {
		agent, err := stock.Peerstore().Get(tab.ID(), "AgentVersion")
		return err == nil && agent == "a tab"
	})
}

// TestTabHostMeetsStock: both sides know what the other speaks and is, open streams to each other, and see the end.
func TestTabHostMeetsStock(t *testing.T) {
	tab, stock := openTabHost(t), openStock(t)
	tab.SetStreamHandler(echo, answerEcho)
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err != nil {
		t.Fatal(err)
	}
	await(t, "the tab knows what the other side speaks", func() bool {
		spoken, err := tab.Peerstore().SupportsProtocols(stock.ID(), echo, unheard)
		return err == nil && slices.Equal(spoken, []protocol.ID{echo})
	})
	for name, c := range map[string]struct {
		from, to host.Host
	}{"from the tab": {tab, stock}, "to the tab": {stock, tab}} {
		t.Run(name, func(t *testing.T) {
			s, err := c.from.NewStream(t.Context(), c.to.ID(), unheard, echo)
			if err != nil {
				t.Fatal(err)
			}
			if s.Protocol() != echo {
				t.Errorf("it speaks %s", s.Protocol())
			}
			if back, err := said(t, s, "words"); back != "words" || err != nil {
				t.Errorf("got %q, %v", back, err)
			}
		})
	}
	awaitIdentified(t, stock, tab)
	if addrs := tab.Addrs(); len(addrs) > 0 {
		t.Errorf("the tab says that it is at %v", addrs)
	}
	if err := stock.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, "the tab sees the other go", func() bool { return tab.Network().Connectedness(stock.ID()) == network.NotConnected })
}

// TestTabHostOnRenewedProtocols: who is connected learns of protocols that come and go.
func TestTabHostOnRenewedProtocols(t *testing.T) {
	tab, stock := openTabHost(t), openStock(t)
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err != nil {
		t.Fatal(err)
	}
	awaitIdentified(t, stock, tab) // else the first answer, on a stream of its own, may come after the news
	speaks := func() bool {
		spoken, err := stock.Peerstore().SupportsProtocols(tab.ID(), echo)
		return err == nil && len(spoken) > 0
	}
	tab.SetStreamHandler(echo, answerEcho)
	await(t, "the other side knows of a new protocol", speaks)
	tab.RemoveStreamHandler(echo)
	await(t, "the other side knows that it is gone", func() bool { return !speaks() })
	if s, err := stock.NewStream(t.Context(), tab.ID(), echo); err == nil {
		if back, err := said(t, s, "words"); err == nil {
			t.Errorf("a protocol that was removed answers %q", back)
		}
	}
}

// TestTabHostRefuses: a stream that cannot be is refused by name, and leaves nothing behind.
func TestTabHostRefuses(t *testing.T) {
	tab, stock := openTabHost(t), openStock(t)
	if _, err := tab.NewStream(network.WithNoDial(t.Context(), "a test"), stock.ID(), echo); err == nil {
		t.Error("a stream to a peer that is not connected, which must not be dialed")
	}
	if _, err := tab.NewStream(t.Context(), stock.ID(), echo); err == nil || !strings.Contains(err.Error(), "dial") {
		t.Errorf("a stream to a peer without addresses: %v", err)
	}
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.NewStream(t.Context(), stock.ID(), unheard); err == nil || !strings.Contains(err.Error(), "negotiate") {
		t.Errorf("a stream of a protocol that the other side does not speak: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tab.NewStream(over, stock.ID(), echo); err == nil {
		t.Error("a stream for somebody who has given up")
	}
	for _, c := range tab.Network().ConnsToPeer(stock.ID()) {
		for _, s := range c.GetStreams() {
			if s.Stat().Direction == network.DirOutbound && !strings.HasPrefix(string(s.Protocol()), "/ipfs/id/") {
				t.Errorf("a stream that was refused stays, of protocol %q", s.Protocol())
			}
		}
	}
}

// TestTabHostOnSilence: who opens streams and does not say for what holds them only as long as agreeing may take.
func TestTabHostOnSilence(t *testing.T) {
	t.Parallel()
	tab, stock := openTabHost(t), openStock(t)
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err != nil {
		t.Fatal(err)
	}
	conns := stock.Network().ConnsToPeer(tab.ID())
	if len(conns) == 0 {
		t.Fatal("the other side has no connection")
	}
	s, err := conns[0].NewStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(s, "\x13/multistream/1.0.0\n"); err != nil { // and nothing more
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(2 * negotiationTimeout))
	_, err = io.ReadAll(s)
	var reset *network.StreamError
	if !errors.As(err, &reset) || reset.ErrorCode != network.StreamProtocolNegotiationFailed {
		t.Errorf("the stream ends with %v", err)
	}
}

// TestTabHostCloses: its end is the end of its connections, and it may be closed twice.
func TestTabHostCloses(t *testing.T) {
	tab, stock := openTabHost(t), openStock(t)
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tab.Close(), tab.Close()); err != nil {
		t.Error(err)
	}
	await(t, "the other side sees the tab go", func() bool { return stock.Network().Connectedness(tab.ID()) == network.NotConnected })
	if err := tab.Connect(t.Context(), *host.InfoFromHost(stock)); err == nil {
		t.Error("a host that was closed connects")
	}
}
