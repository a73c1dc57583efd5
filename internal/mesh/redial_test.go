//go:build !js

package mesh_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// cable forwards TCP connections to the address of a mesh until it is cut: from then on it forwards nothing, and tells
// neither end.
type cable struct {
	address string
	cut     atomic.Bool
}

func newCable(t *testing.T, to *mesh.Mesh) *cable {
	t.Helper()
	full := to.Addrs()[0]
	at := strings.Index(full, "/p2p/")
	target, err := manet.ToNetAddr(ma.StringCast(full[:at]))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	here, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{address: here.String() + full[at:]}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target.String())
			if err != nil {
				in.Close()
				return
			}
			t.Cleanup(func() { in.Close(); out.Close() })
			go c.forward(in, out)
			go c.forward(out, in)
		}
	}()
	return c
}

func (c *cable) forward(from io.Reader, to io.Writer) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if c.cut.Load() {
			if err != nil {
				return
			}
			continue
		}
		if _, err2 := to.Write(b[:n]); err != nil || err2 != nil {
			return
		}
	}
}

// A peer whose connection broke without a sign, and that dials again, is heard and spoken to at once.
func TestNewestConnectionCounts(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	wire := newCable(t, hub)
	before := start(t, mesh.Config{Key: key(2), Agent: "test/1"})
	enter(t, before)
	if _, err := before.Dial(t.Context(), wire.address); err != nil {
		t.Fatal(err)
	}
	linked(t, hub, before)
	linked(t, before, hub)
	if err := hub.Send(before.Self(), status(1)); err != nil { // opens a stream on the old connection
		t.Fatal(err)
	}
	wait(t, before, func(e mesh.Received) bool { return e.From == hub.Self() })
	wire.cut.Store(true)
	time.Sleep(3500 * time.Millisecond) // sooner, it could be another address that is dialed at the same time

	after := start(t, mesh.Config{Key: key(2), Agent: "test/1"})
	enter(t, after)
	dial(t, after, hub)
	linked(t, after, hub)
	wait(t, hub, func(e mesh.Unlinked) bool { return e.Peer == after.Self() })
	linked(t, hub, after)
	begun := time.Now()
	if err := hub.Send(after.Self(), status(2)); err != nil {
		t.Fatal(err)
	}
	wait(t, after, func(e mesh.Received) bool {
		s, ok := e.Message.(*coordinator.Status)
		return ok && e.From == hub.Self() && s.Height == 2
	})
	if d := time.Since(begun); d > 5*time.Second {
		t.Errorf("the message took %v", d)
	}
	go func() { // the first may come before the hub has heard what the peer is subscribed to
		for t.Context().Err() == nil {
			_ = hub.Gossip(status(3))
			time.Sleep(100 * time.Millisecond)
		}
	}()
	wait(t, after, func(e mesh.Received) bool {
		s, ok := e.Message.(*coordinator.Status)
		return ok && s.Height == 3
	})
}
