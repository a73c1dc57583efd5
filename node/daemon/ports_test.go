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

func TestCertificatesAndTheirListeners(t *testing.T) {
	secure := []string{"/ip4/127.0.0.1/tcp/0/tls/ws"}
	if _, _, err := peerPorts(secure, false, 0); !errors.Is(err, errListen) || !strings.Contains(err.Error(), "--tls-cert") {
		t.Errorf("TLS without a certificate gives %v", err)
	}
	if _, _, err := peerPorts([]string{"/ip4/127.0.0.1/tcp/0"}, true, 0); !errors.Is(err, errListen) || !strings.Contains(err.Error(), "/tls/ws") {
		t.Errorf("a certificate without TLS gives %v", err)
	}
	if _, _, err := peerPorts(secure, true, 0); err != nil {
		t.Error(err)
	}
	listen, _, err := peerPorts(nil, true, 0)
	if err != nil || !strings.Contains(strings.Join(listen, " "), "/tls/ws") {
		t.Errorf("by default a node with a certificate listens on %v, %v", listen, err)
	}
}

func TestListenNamesNoCertificate(t *testing.T) {
	err := checkFree([]string{"/ip4/127.0.0.1/udp/0/webrtc-direct/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"})
	if !errors.Is(err, errListen) || !strings.Contains(err.Error(), "leave out /certhash/") {
		t.Errorf("got %v", err)
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
		{fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1/webtransport", udpPort), true},
		{fmt.Sprintf("/ip4/127.0.0.1/udp/%d/webrtc-direct", udpPort), true},
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

// The ports of several runs do not meet, however many of them a list has.
func TestPortsOfSeveralRuns(t *testing.T) {
	for _, test := range []struct {
		listen string
		lane   int
		want   string
	}{
		{"/ip4/0.0.0.0/tcp/4001", 0, "/ip4/0.0.0.0/tcp/4001"},
		{"/ip4/0.0.0.0/tcp/4001 /ip6/::/udp/4001/quic-v1", 2, "/ip4/0.0.0.0/tcp/4003 /ip6/::/udp/4003/quic-v1"},
		{"/ip4/127.0.0.1/tcp/4001 /ip4/127.0.0.1/tcp/4003/ws", 1, "/ip4/127.0.0.1/tcp/4004 /ip4/127.0.0.1/tcp/4006/ws"},
		{"/ip4/127.0.0.1/tcp/0 /ip4/127.0.0.1/udp/0/quic-v1", 3, "/ip4/127.0.0.1/tcp/0 /ip4/127.0.0.1/udp/0/quic-v1"},
		{"/ip4/127.0.0.1/tcp/65535", 1, ""},
		{"nonsense /tcp/x", 1, "nonsense /tcp/x"},
	} {
		got, err := shift(strings.Fields(test.listen), test.lane)
		if strings.Join(got, " ") != test.want || (err == nil) == (test.want == "") || err != nil && !errors.Is(err, errListen) {
			t.Errorf("%s of run %d: %s, %v", test.listen, test.lane+1, got, err)
		}
	}
}
