//go:build !js

package mesh_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// bindingRequest is the first packet of a handshake over WebRTC-Direct: STUN, with a name that nobody has used.
func bindingRequest(n int) []byte {
	user := fmt.Sprintf("libp2p+webrtc+v2/%032d:%08d", n, n)
	padded := append([]byte(user), make([]byte, (4-len(user)%4)%4)...)
	packet := binary.BigEndian.AppendUint16(nil, 0x0001)
	packet = binary.BigEndian.AppendUint16(packet, uint16(4+len(padded)))
	packet = binary.BigEndian.AppendUint32(packet, 0x2112A442)
	packet = append(packet, fmt.Sprintf("%012d", n)...)
	packet = binary.BigEndian.AppendUint16(packet, 0x0006)
	packet = binary.BigEndian.AppendUint16(packet, uint16(len(user)))
	return append(packet, padded...)
}

// While somebody begins handshakes over WebRTC without end, each with a packet, others are served over all other ways.
func TestFloodOfHandshakes(t *testing.T) {
	hub := startPublic(t, 1)
	enter(t, hub)
	at := strings.Split(addrOf(t, hub, mesh.WebRTC), "/")
	conn, err := net.Dial("udp", net.JoinHostPort(at[2], at[4]))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	done := make(chan int)
	stop := make(chan struct{})
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				done <- n
				return
			default:
			}
			_, _ = conn.Write(bindingRequest(n))
			if n%100 == 99 {
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	time.Sleep(time.Second)
	for n, w := range []mesh.Way{mesh.TCP, mesh.WebSocket, mesh.QUIC, mesh.WebTransport} {
		begun := time.Now()
		leaf := start(t, mesh.Config{Key: key(byte(2 + n)), Kind: coordinator.Tab})
		enter(t, leaf)
		if _, err := leaf.Dial(t.Context(), addrOf(t, hub, w)); err != nil {
			t.Errorf("over %s: %v", w, err)
			continue
		}
		linked(t, hub, leaf)
		t.Logf("linked over %s after %v", w, time.Since(begun))
	}
	close(stop)
	t.Logf("%d handshakes were begun", <-done)
}
