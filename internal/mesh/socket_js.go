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
)

// maxSocketUnread is how much a node may have sent that was not read yet. What is read goes at once to the muxer, which
// lets a node send no more than its streams have room for.
const maxSocketUnread = 32 << 20

// socket is a WebSocket of the browser as a stream of bytes.
type socket struct {
	ws     js.Value
	opened chan struct{}
	over   chan struct{} // closed when it is
	wake   chan struct{} // something came
	deadlines

	mu     sync.Mutex
	unread [][]byte
	held   int   // bytes of unread
	ended  error // why nothing more comes
}

// openSocket opens a WebSocket; ctx bounds the opening.
func openSocket(ctx context.Context, url string) (*socket, error) {
	ws, err := try(func() js.Value { return js.Global().Get("WebSocket").New(url) })
	if err != nil {
		return nil, err
	}
	ws.Set("binaryType", "arraybuffer")
	s := &socket{ws: ws, opened: make(chan struct{}), over: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.listen()
	select {
	case <-s.opened:
		return s, nil
	case <-s.over:
		return nil, s.why()
	case <-ctx.Done():
		s.end(ctx.Err())
		return nil, ctx.Err()
	}
}

// listen hears of the socket until it is closed. The browser tells nothing after that.
func (s *socket) listen() {
	events := map[string]js.Func{}
	hear := func(name string, f func(event js.Value)) {
		events[name] = js.FuncOf(func(_ js.Value, args []js.Value) any { f(args[0]); return nil })
		s.ws.Call("addEventListener", name, events[name])
	}
	hear("open", func(js.Value) { close(s.opened) })
	hear("message", func(event js.Value) { s.receive(event.Get("data")) })
	hear("close", func(event js.Value) {
		why := fmt.Errorf("the WebSocket was closed with code %d", event.Get("code").Int())
		if event.Get("wasClean").Bool() {
			why = io.EOF
		}
		s.end(why)
		close(s.over)
		for name, f := range events {
			s.ws.Call("removeEventListener", name, f)
			f.Release()
		}
	})
}

// receive keeps a message until it is read.
func (s *socket) receive(data js.Value) {
	if data.Type() != js.TypeObject {
		s.end(errors.New("text came over the WebSocket"))
		return
	}
	b := toGo(js.Global().Get("Uint8Array").New(data))
	s.mu.Lock()
	full := s.held+len(b) > maxSocketUnread
	if !full && s.ended == nil {
		s.unread = append(s.unread, b)
		s.held += len(b)
	}
	s.mu.Unlock()
	if full {
		s.end(errors.New("more came over the WebSocket than was read"))
	}
	poke(s.wake)
}

// end closes the socket, and lets readers know why.
func (s *socket) end(why error) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = why
	}
	s.mu.Unlock()
	poke(s.wake)
	_, _ = try(func() js.Value { return s.ws.Call("close") })
}

func (s *socket) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Read takes what has come, or waits for it.
func (s *socket) Read(b []byte) (int, error) {
	for {
		if n, err := s.take(b); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-s.wake:
		case <-s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// take returns what has come, which may be nothing.
func (s *socket) take(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unread) == 0 {
		if s.ended != nil {
			poke(s.wake) // others may wait
		}
		return 0, s.ended
	}
	n := copy(b, s.unread[0])
	s.held -= n
	if s.unread[0] = s.unread[0][n:]; len(s.unread[0]) == 0 {
		s.unread = s.unread[1:]
	}
	return n, nil
}

// Write hands bytes to the browser, which keeps them until they are sent.
func (s *socket) Write(b []byte) (int, error) {
	if s.why() != nil {
		return 0, net.ErrClosed
	}
	if _, err := try(func() js.Value { return s.ws.Call("send", toJS(b)) }); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close ends the socket without waiting for the other side.
func (s *socket) Close() error {
	s.end(net.ErrClosed)
	return nil
}

// LocalAddr names no real address.
func (s *socket) LocalAddr() net.Addr { return socketAddr{} }

// RemoteAddr names no real address: the browser keeps it to itself.
func (s *socket) RemoteAddr() net.Addr { return socketAddr{} }

type socketAddr struct{}

func (socketAddr) Network() string { return "websocket" }
func (socketAddr) String() string  { return "websocket" }
