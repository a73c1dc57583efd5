package daemon

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestListenHTTP(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	if _, _, err := listenHTTP(address, true); !errors.Is(err, ErrBusy) {
		t.Errorf("a busy port that was asked for gives %v, want ErrBusy", err)
	}
	l, note, err := listenHTTP(address, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().String() == address || !strings.Contains(note, "is busy") {
		t.Errorf("fell back to %v with note %q", l.Addr(), note)
	}
	if _, _, err := listenHTTP("256.0.0.1:x", true); err == nil || errors.Is(err, ErrBusy) {
		t.Errorf("an address that is none gives %v", err)
	}
}

func TestCheckFree(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcpPort, udpPort := tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port
	for _, c := range []struct {
		listen string
		busy   bool
	}{
		{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", tcpPort), true},
		{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/ws", tcpPort), true},
		{fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1", udpPort), true},
		{"/ip4/127.0.0.1/tcp/0", false},
		{"/ip4/127.0.0.1/udp/0/quic-v1", false},
		{"/dns4/localhost/tcp/1", false},
	} {
		if err := checkFree([]string{c.listen}); errors.Is(err, ErrBusy) != c.busy {
			t.Errorf("checkFree(%s) = %v, want busy: %t", c.listen, err, c.busy)
		}
	}
	if err := checkFree([]string{"nonsense"}); err == nil {
		t.Error("checkFree takes nonsense for an address")
	}
}

func TestPageURLs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, elsewhere := pageURLs(l)
	if want := "http://" + l.Addr().String() + "/"; here != want || elsewhere != "" {
		t.Errorf("pageURLs = %q, %q, want %q and none", here, elsewhere, want)
	}
}
