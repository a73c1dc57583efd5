package mesh

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// rtcFinWait is how long a stream that is closed waits for the other side to say that it has all.
const rtcFinWait = 10 * time.Second

// rtcStream is a data channel that the page holds.
type rtcStream struct {
	conn    *rtcConn
	channel int
	opened  chan struct{}
	gone    chan struct{} // closed when the channel is
	onOpen  sync.Once
	onGone  sync.Once
	deadlines
	wake chan struct{} // something came
	room chan struct{} // something was sent

	mu       sync.Mutex
	in       rtcReader
	unread   []byte
	readEnd  error // why nothing more comes
	writeEnd error // why nothing more goes
	finished bool  // the other side has all, or wants no more
	unsent   int   // bytes that the browser has not sent yet
}

func newRTCStream(c *rtcConn, channel int) *rtcStream {
	return &rtcStream{conn: c, channel: channel, opened: make(chan struct{}), gone: make(chan struct{}),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// open notes that the channel is open; browsers may say so twice.
func (s *rtcStream) open() { s.onOpen.Do(func() { close(s.opened) }) }

func (s *rtcStream) awaitOpen(ctx context.Context) error {
	select {
	case <-s.opened:
		return nil
	case <-s.conn.done:
		return s.conn.why()
	case <-s.gone:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive takes what came; an error ends the connection.
func (s *rtcStream) receive(data []byte) error {
	s.mu.Lock()
	list, err := s.in.add(data)
	for _, m := range list {
		if err == nil {
			err = s.handle(m)
		}
	}
	over := s.over()
	s.mu.Unlock()
	poke(s.wake)
	poke(s.room)
	if over && err == nil {
		s.conn.forget(s)
	}
	return err
}

// handle takes one message. The caller holds mu.
func (s *rtcStream) handle(m rtcMessage) error {
	if s.readEnd == nil && len(m.data) > 0 {
		if err := s.conn.hold(len(m.data)); err != nil {
			return err
		}
		s.unread = append(s.unread, m.data...)
	}
	broken := &network.StreamError{Remote: true, ErrorCode: network.StreamErrorCode(m.code)}
	switch m.flag {
	case rtcFIN:
		if s.readEnd == nil {
			s.readEnd = io.EOF
		}
		s.send(rtcMessage{flag: rtcFINACK})
	case rtcFINACK:
		s.finished = true
	case rtcStopSending:
		s.stopWriting(broken)
	case rtcReset:
		s.stopReading(broken)
		s.stopWriting(broken)
	}
	return nil
}

// stopReading drops what was not read. The caller holds mu.
func (s *rtcStream) stopReading(why error) {
	_ = s.conn.hold(-len(s.unread)) // less is never too much
	s.unread = nil
	if s.readEnd == nil {
		s.readEnd = why
	}
}

// stopWriting ends the direction to the node, which wants no more. The caller holds mu.
func (s *rtcStream) stopWriting(why error) {
	s.finished = true
	if s.writeEnd == nil {
		s.writeEnd = why
	}
}

// over reports whether both directions have ended. The caller holds mu.
func (s *rtcStream) over() bool { return s.readEnd != nil && s.writeEnd != nil && s.finished }

// send hands a message to the page. The caller holds mu.
func (s *rtcStream) send(m rtcMessage) {
	length, body := m.frame()
	s.unsent += len(length) + len(body)
	s.conn.post(map[string]any{"op": "send", "channel": s.channel, "parts": []any{toJS(length), toJS(body)}})
}

// sent notes that the browser has sent bytes.
func (s *rtcStream) sent(bytes int) {
	s.mu.Lock()
	s.unsent -= bytes
	s.mu.Unlock()
	poke(s.room)
}

// cut notes that the channel is closed.
func (s *rtcStream) cut() {
	s.mu.Lock()
	if s.readEnd == nil {
		s.readEnd = &network.StreamError{Remote: true}
	}
	s.stopWriting(&network.StreamError{Remote: true})
	s.mu.Unlock()
	s.conn.forget(s)
	s.onGone.Do(func() { close(s.gone) })
	poke(s.wake)
	poke(s.room)
}

// Read takes what has come, or waits for it.
func (s *rtcStream) Read(b []byte) (int, error) {
	for {
		s.mu.Lock()
		if n := copy(b, s.unread); n > 0 {
			s.unread = s.unread[n:]
			_ = s.conn.hold(-n)
			s.mu.Unlock()
			return n, nil
		}
		end := s.readEnd
		s.mu.Unlock()
		if end != nil {
			poke(s.wake) // others may wait
			return 0, end
		}
		select {
		case <-s.wake:
		case <-s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Write waits until the browser has not much left to send.
func (s *rtcStream) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		s.mu.Lock()
		if s.writeEnd != nil {
			defer s.mu.Unlock()
			poke(s.room)
			return n, s.writeEnd
		}
		if s.unsent < maxRTCUnsent {
			k := min(len(b), maxRTCMessage-rtcOverhead)
			s.send(rtcMessage{flag: rtcNoFlag, data: b[:k]})
			n, b = n+k, b[k:]
			s.mu.Unlock()
			continue
		}
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-s.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		}
	}
	return n, nil
}

// errShut is what a write gets after CloseWrite.
var errShut = errors.New("the stream is closed for writing")

// CloseWrite ends this side's direction, after what was written.
func (s *rtcStream) CloseWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeEnd == nil {
		s.writeEnd = errShut
		s.send(rtcMessage{flag: rtcFIN})
	}
	return nil
}

// CloseRead tells the node that nothing more is read.
func (s *rtcStream) CloseRead() error {
	s.mu.Lock()
	if s.readEnd == nil {
		s.send(rtcMessage{flag: rtcStopSending})
	}
	s.stopReading(network.ErrReset)
	over := s.over()
	s.mu.Unlock()
	poke(s.wake)
	if over {
		s.conn.forget(s)
	}
	return nil
}

// Close ends both directions. The channel goes once the node has all, or after some time.
func (s *rtcStream) Close() error {
	err := errors.Join(s.CloseWrite(), s.CloseRead())
	s.mu.Lock()
	over := s.over()
	s.mu.Unlock()
	if !over {
		time.AfterFunc(rtcFinWait, func() { s.conn.forget(s) })
	}
	return err
}

// Reset breaks both directions off.
func (s *rtcStream) Reset() error { return s.ResetWithError(0) }

// ResetWithError is Reset, and tells a code.
func (s *rtcStream) ResetWithError(code network.StreamErrorCode) error {
	s.mu.Lock()
	if !s.over() {
		s.send(rtcMessage{flag: rtcReset, code: uint32(code)})
	}
	s.stopReading(network.ErrReset)
	s.stopWriting(network.ErrReset)
	s.mu.Unlock()
	s.conn.forget(s)
	poke(s.wake)
	poke(s.room)
	return nil
}
