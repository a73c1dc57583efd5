//go:build linux

package wire

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

// Two sites talk over TCP, not while they are cut apart, and again after that; what is delayed comes later.
func TestNet(t *testing.T) {
	n := New()
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	a, err := n.Add(netip.MustParseAddr("198.51.100.1"))
	if err != nil {
		t.Skipf("no network of namespaces on this machine: %v", err)
	}
	b, err := n.Add(netip.MustParseAddr("203.0.113.1"))
	if err != nil {
		t.Fatal(err)
	}
	var l net.Listener
	if err := b.inside(func() (err error) {
		l, err = net.Listen("tcp", "203.0.113.1:80")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	c, err := a.Dial(t.Context(), "tcp", "203.0.113.1:80")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	echo := func(patience time.Duration) (time.Duration, error) {
		begun := time.Now()
		if _, err := c.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(begun.Add(patience))
		_, err := io.ReadFull(c, make([]byte, 1))
		return time.Since(begun), err
	}
	if _, err := echo(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	n.Set(func(from, _ netip.Addr) Fate { return Fate{Delay: 100 * time.Millisecond} })
	if took, err := echo(5 * time.Second); err != nil || took < 200*time.Millisecond {
		t.Errorf("got an echo after %v, %v, want one after 200 ms", took, err)
	}
	n.Set(func(from, _ netip.Addr) Fate { return Fate{Stop: from == b.Addr} })
	if _, err := echo(time.Second); err == nil {
		t.Error("a packet comes though the way is cut")
	}
	n.Set(nil)
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}
