package mesh

import (
	"errors"
	"io"
	"strings"
	"syscall/js"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
)

// fakePage is a page that holds no connection: it notes what it is asked.
type fakePage struct {
	conn  *rtcConn
	asked []map[string]string
}

func newFakePage(t *testing.T) *fakePage {
	t.Helper()
	p := &fakePage{}
	post := js.FuncOf(func(_ js.Value, args []js.Value) any {
		ask := map[string]string{"op": args[0].Get("op").String()}
		if c := args[0].Get("channel"); !c.IsUndefined() {
			ask["channel"] = js.Global().Get("String").Invoke(c).String()
		}
		p.asked = append(p.asked, ask)
		return nil
	})
	shut := js.FuncOf(func(js.Value, []js.Value) any { return nil })
	port := js.ValueOf(map[string]any{"postMessage": post, "close": shut})
	open := js.FuncOf(func(js.Value, []js.Value) any { return port })
	js.Global().Set("openRTC", open)
	t.Cleanup(func() {
		js.Global().Delete("openRTC")
		p.conn.Close()
		time.Sleep(10 * time.Millisecond) // what it releases later calls nobody
		for _, f := range []js.Func{post, shut, open} {
			f.Release()
		}
	})
	if !hasWebRTC() {
		t.Fatal("the page's offer is not seen")
	}
	p.conn = newRTCConn(&dialer{}, &webRTC{}, rtcLocal, ma.StringCast("/ip4/203.0.113.7/udp/1/webrtc-direct"))
	return p
}

// says has the page tell something.
func (p *fakePage) says(told map[string]any) { p.conn.hear(js.ValueOf(told)) }

// brings has a message come over a channel.
func (p *fakePage) brings(channel int, m rtcMessage) {
	length, body := m.frame()
	p.says(map[string]any{"op": "message", "channel": channel, "data": toJS(append(length, body...))})
}

// count tells how often the page was asked for something.
func (p *fakePage) count(op string) (n int) {
	for _, ask := range p.asked {
		if ask["op"] == op {
			n++
		}
	}
	return n
}

// What a node sends beyond what is read, or may be sent at all, ends its connection, by name.
func TestRTCNodesAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		does func(p *fakePage)
		want string
	}{
		"a flood that nobody reads": {func(p *fakePage) {
			p.says(map[string]any{"op": "incoming", "channel": -1, "id": 1})
			for range maxRTCUnread/(maxRTCMessage-rtcOverhead) + 1 {
				p.brings(-1, rtcMessage{flag: rtcNoFlag, data: make([]byte, maxRTCMessage-rtcOverhead)})
			}
		}, "not read"},
		"a message that is too long": {func(p *fakePage) {
			p.brings(0, rtcMessage{flag: rtcNoFlag, data: make([]byte, maxRTCMessage)})
		}, "at most 16384 are allowed"},
		"channels without end": {func(p *fakePage) {
			p.says(map[string]any{"op": "incoming", "channel": -1, "id": maxRTCChannel + 1})
		}, "made again"},
		"a connection that breaks": {func(p *fakePage) {
			p.says(map[string]any{"op": "ended", "why": "nobody answers"})
		}, "nobody answers"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFakePage(t)
			c.does(p)
			if err := p.conn.why(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if p.count("end") != 1 {
				t.Errorf("the page was asked to end the connection %d times", p.count("end"))
			}
			if _, err := p.conn.OpenStream(t.Context()); err == nil {
				t.Error("a stream opens after the end")
			}
		})
	}
}

// Streams that nobody accepts are shut, and the connection lives.
func TestRTCStreamsAreBounded(t *testing.T) {
	p := newFakePage(t)
	for n := range 3 * maxRTCIncoming {
		p.says(map[string]any{"op": "incoming", "channel": -1 - n, "id": 2*n + 1})
	}
	if got := p.count("shut"); got != 2*maxRTCIncoming || p.conn.IsClosed() {
		t.Errorf("%d streams were shut, want %d; %v", got, 2*maxRTCIncoming, p.conn.why())
	}
}

// A stream carries bytes both ways, ends in each direction by itself, and its channel is shut once both have ended.
func TestRTCStream(t *testing.T) {
	p := newFakePage(t)
	p.says(map[string]any{"op": "incoming", "channel": -1, "id": 1})
	s, err := p.conn.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	p.brings(-1, rtcMessage{flag: rtcNoFlag, data: []byte("question")})
	p.brings(-1, rtcMessage{flag: rtcFIN})
	if got, err := io.ReadAll(s); err != nil || string(got) != "question" {
		t.Errorf("got %q, %v", got, err)
	}
	if n, err := s.Write([]byte("answer")); n != 6 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("more")); !errors.Is(err, errShut) {
		t.Errorf("a write after Close gives %v", err)
	}
	if p.count("shut") != 0 {
		t.Error("the channel was shut before the node had all")
	}
	p.brings(-1, rtcMessage{flag: rtcFINACK})
	if p.count("shut") != 1 || p.count("send") != 3 { // FIN_ACK, the answer, FIN
		t.Errorf("the page was asked %v", p.asked)
	}
}

// A writer waits until the browser has sent what it has, and no longer than its deadline.
func TestRTCWriterWaits(t *testing.T) {
	p := newFakePage(t)
	p.says(map[string]any{"op": "incoming", "channel": -1, "id": 1})
	s, err := p.conn.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	_ = s.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	n, err := s.Write(make([]byte, 1<<20))
	if err == nil || n < maxRTCUnsent/2 || n > 2*maxRTCUnsent {
		t.Errorf("%d bytes wait in the browser, %v", n, err)
	}
	_ = s.SetWriteDeadline(time.Time{})
	p.says(map[string]any{"op": "sent", "channel": -1, "bytes": n})
	if _, err := s.Write([]byte("x")); err != nil {
		t.Errorf("a writer with room gets %v", err)
	}
	p.brings(-1, rtcMessage{flag: rtcReset})
	if _, err := s.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a reset stream reads %v", err)
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a reset stream takes bytes")
	}
}
