package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxRTCMessage is how long a message on a data channel may be, by the specification.
const maxRTCMessage = 16 << 10

// rtcOverhead is what a message takes besides its data: the tag and the length of its field.
const rtcOverhead = 8

// rtcFlag is what a message says of its stream.
type rtcFlag uint64

// Flags, as the specification numbers them.
const (
	rtcFIN         rtcFlag = 0 // no more data comes
	rtcStopSending rtcFlag = 1 // no more data is read
	rtcReset       rtcFlag = 2
	rtcFINACK      rtcFlag = 3 // all data has come
	rtcNoFlag      rtcFlag = 1 << 32
)

// rtcMessage is a message on a data channel, in Protocol Buffers: flag 1, message 2, errorCode 3. These three fields
// are written and read here, since the library's description of them would make the tab's program larger.
type rtcMessage struct {
	flag rtcFlag
	data []byte
	code uint32
}

// frame encodes a message as its length and its body. They go out as two messages of the browser: go-libp2p reads the
// length through a buffer that is smaller than a message may be.
func (m rtcMessage) frame() (length, body []byte) {
	if m.flag != rtcNoFlag {
		body = binary.AppendUvarint(append(body, 1<<3), uint64(m.flag))
	}
	if len(m.data) > 0 {
		body = append(binary.AppendUvarint(append(body, 2<<3|2), uint64(len(m.data))), m.data...)
	}
	if m.code != 0 {
		body = binary.AppendUvarint(append(body, 3<<3), uint64(m.code))
	}
	return binary.AppendUvarint(nil, uint64(len(body))), body
}

var errRTCMessage = errors.New("the node sends a message that is none")

// decodeRTC reads a message. Fields that it does not know are skipped.
func decodeRTC(body []byte) (rtcMessage, error) {
	m := rtcMessage{flag: rtcNoFlag}
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return 0, false
		}
		body = body[n:]
		return v, true
	}
	for len(body) > 0 {
		tag, ok := number()
		if !ok {
			return m, errRTCMessage
		}
		var value uint64
		var bytes []byte
		switch tag & 7 {
		case 0:
			value, ok = number()
		case 1:
			ok = len(body) >= 8
			body = body[min(8, len(body)):]
		case 2:
			if value, ok = number(); ok && value <= uint64(len(body)) {
				bytes, body = body[:value], body[value:]
			} else {
				ok = false
			}
		case 5:
			ok = len(body) >= 4
			body = body[min(4, len(body)):]
		default:
			ok = false
		}
		if !ok {
			return m, errRTCMessage
		}
		switch tag {
		case 1 << 3:
			m.flag = rtcFlag(uint32(value))
		case 2<<3 | 2:
			m.data = bytes
		case 3 << 3:
			m.code = uint32(value)
		}
	}
	return m, nil
}

// rtcReader takes messages out of what comes over a data channel: each after its length as a varint. Where a browser's
// message ends means nothing.
type rtcReader struct{ rest []byte }

// add takes in bytes and returns the messages that are complete now.
func (r *rtcReader) add(data []byte) ([]rtcMessage, error) {
	r.rest = append(r.rest, data...)
	var list []rtcMessage
	for len(r.rest) > 0 {
		size, n := binary.Uvarint(r.rest)
		if n < 0 || size > maxRTCMessage || n == 0 && len(r.rest) >= binary.MaxVarintLen64 {
			return nil, fmt.Errorf("the node sends a message of %d bytes, at most %d are allowed", size, maxRTCMessage)
		}
		if n == 0 || uint64(len(r.rest)-n) < size {
			break
		}
		m, err := decodeRTC(r.rest[n : n+int(size)])
		if err != nil {
			return nil, err
		}
		list = append(list, m)
		r.rest = r.rest[n+int(size):]
	}
	if len(r.rest) == 0 {
		r.rest = nil
	}
	return list, nil
}
