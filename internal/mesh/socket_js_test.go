package mesh

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall/js"
	"testing"
	"time"
)

// fakeSocket takes the place of the browser's WebSocket: it opens for the URL open, and answers with what was sent.
const fakeSocket = `(class extends EventTarget {
  constructor(url) {
    super();
    if (url === "wrong") throw new SyntaxError("no URL");
    this.url = url;
    setTimeout(() => url === "open" ? this.tell("open") : url === "refused" && this.tell("close", { code: 1006, wasClean: false }));
  }
  tell(type, fields) { this.dispatchEvent(Object.assign(new Event(type), fields)); }
  send(data) {
    const text = new TextDecoder().decode(data);
    if (text === "text") return this.tell("message", { data: text });
    if (text === "goodbye") return this.close();
    const times = text === "flood" ? 9 : 1;
    for (let i = 0; i < times; i++) this.tell("message", { data: times > 1 ? new ArrayBuffer(4 << 20) : data.slice().buffer });
  }
  close() { setTimeout(() => this.tell("close", { code: 1000, wasClean: true })); }
})`

func useFakeSocket(t *testing.T) {
	before := js.Global().Get("WebSocket")
	js.Global().Set("WebSocket", js.Global().Call("eval", fakeSocket))
	t.Cleanup(func() { js.Global().Set("WebSocket", before) })
}

func openFake(t *testing.T) *socket {
	t.Helper()
	s, err := openSocket(t.Context(), "open")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A socket that does not open says why, and one that nobody answers on is given up.
func TestSocketOpens(t *testing.T) {
	useFakeSocket(t)
	for _, c := range []struct {
		url, want string
		wait      time.Duration
	}{{"wrong", "no URL", time.Minute}, {"refused", "code 1006", time.Minute}, {"silent", context.DeadlineExceeded.Error(), 50 * time.Millisecond}} {
		ctx, cancel := context.WithTimeout(t.Context(), c.wait)
		if _, err := openSocket(ctx, c.url); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.url, err)
		}
		cancel()
	}
}

// A socket is a stream of bytes: what comes is read in parts of any length, until the end.
func TestSocketReads(t *testing.T) {
	useFakeSocket(t)
	s := openFake(t)
	for _, part := range []string{"hello ", "world", "goodbye"} {
		if _, err := s.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	var got []byte
	b := make([]byte, 4)
	for {
		n, err := s.Read(b)
		got = append(got, b[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(got) != "hello world" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Write([]byte("more")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
}

// A reader stops waiting at its deadline, and may read again after it.
func TestSocketDeadline(t *testing.T) {
	useFakeSocket(t)
	s := openFake(t)
	_ = s.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Time{})
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

// A node that sends what no muxer would, or more than anybody reads, is left.
func TestSocketIsBounded(t *testing.T) {
	useFakeSocket(t)
	for _, sends := range []string{"text", "flood"} {
		s := openFake(t)
		if _, err := s.Write([]byte(sends)); err != nil {
			t.Fatal(err)
		}
		if s.held > maxSocketUnread {
			t.Errorf("%s: %d bytes are kept", sends, s.held)
		}
		_, err := io.Copy(io.Discard, s)
		if err == nil || !strings.Contains(err.Error(), "came over the WebSocket") {
			t.Errorf("%s: %v", sends, err)
		}
	}
}
