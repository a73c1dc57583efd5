//go:build !js

package mesh

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/p2p/transport/webrtc/pb"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// Messages come out as they went in, however a browser cuts what carries them.
func TestRTCMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, stream []byte
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			data := rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(t, "data")
			length, body := rtcMessage{flag: rtcNoFlag, data: data}.frame()
			sent = append(sent, data...)
			stream = append(append(stream, length...), body...)
		}
		var r rtcReader
		var got []byte
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "cut")
			list, err := r.add(stream[:n])
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				got = append(got, m.data...)
			}
			stream = stream[n:]
		}
		if !bytes.Equal(got, sent) || len(r.rest) > 0 {
			t.Fatalf("got %d bytes and %d left, want %d", len(got), len(r.rest), len(sent))
		}
	})
}

// A message of the greatest size fits its frame; a length beyond it is refused by name before any of it is kept.
func TestRTCMessagesAreBounded(t *testing.T) {
	length, body := rtcMessage{flag: rtcNoFlag, data: make([]byte, maxRTCMessage-rtcOverhead)}.frame()
	if len(body) > maxRTCMessage {
		t.Errorf("a piece makes a message of %d bytes", len(body))
	}
	var r rtcReader
	if list, err := r.add(append(length, body...)); err != nil || len(list) != 1 {
		t.Errorf("got %d messages, %v", len(list), err)
	}
	for name, data := range map[string][]byte{
		"oversize":   binary.AppendUvarint(nil, maxRTCMessage+1),
		"endless":    bytes.Repeat([]byte{0x80}, 11),
		"huge":       binary.AppendUvarint(nil, 1<<63),
		"no message": {3, 0xff, 0xff, 0xff},
	} {
		var r rtcReader
		if _, err := r.add(data); err == nil || !strings.Contains(err.Error(), "message") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What is written here, libp2p reads, and the other way round.
func TestRTCMessagesAreLibp2ps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rtcMessage{flag: rtcFlag(rapid.IntRange(0, 3).Draw(t, "flag")), data: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"), code: rapid.Uint32().Draw(t, "code")}
		if rapid.Bool().Draw(t, "no flag") {
			m.flag = rtcNoFlag
		}
		_, body := m.frame()
		var theirs pb.Message
		if err := proto.Unmarshal(body, &theirs); err != nil {
			t.Fatal(err)
		}
		if (theirs.Flag == nil) != (m.flag == rtcNoFlag) || theirs.Flag != nil && rtcFlag(theirs.GetFlag()) != m.flag || !bytes.Equal(theirs.Message, m.data) || theirs.GetErrorCode() != m.code {
			t.Fatalf("libp2p reads %+v as %v", m, &theirs)
		}
		again, err := proto.Marshal(&theirs)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeRTC(append(again, 15<<3, 7)) // and a field of a later version
		if err != nil || back.flag != m.flag || !bytes.Equal(back.data, m.data) || back.code != m.code {
			t.Fatalf("%+v came back as %+v, %v", m, back, err)
		}
	})
}

func FuzzRTCMessages(f *testing.F) {
	length, body := rtcMessage{flag: rtcFIN, data: []byte("x")}.frame()
	f.Add(append(length, body...))
	f.Add(binary.AppendUvarint(nil, 1<<40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r rtcReader
		if _, err := r.add(data); err == nil && len(r.rest) > maxRTCMessage+binary.MaxVarintLen64 {
			t.Errorf("%d bytes are kept", len(r.rest))
		}
	})
}
