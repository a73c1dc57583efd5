package tensorboard

import (
	"encoding/binary"
	"math"
)

// version is what the first event of every file says.
const version = "brain.Event:2"

// Scalar is one value of an event.
type Scalar struct {
	Tag   string
	Value float64 // stored as float32
}

// The wire types of protobuf.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

// The fields that are used: Event.wall_time, .step, .file_version, .summary; Summary.value; Value.tag, .simple_value.
const (
	eventTime    = 1
	eventStep    = 2
	eventVersion = 3
	eventSummary = 5
	summaryValue = 1
	valueTag     = 1
	valueSimple  = 2
)

func appendKey(b []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(b, field<<3|wire)
}

func appendBytes(b []byte, field uint64, data []byte) []byte {
	b = binary.AppendUvarint(appendKey(b, field, wireBytes), uint64(len(data)))
	return append(b, data...)
}

// appendTime appends the wall time of an event [s since 1970].
func appendTime(b []byte, seconds float64) []byte {
	return binary.LittleEndian.AppendUint64(appendKey(b, eventTime, wireFixed8), math.Float64bits(seconds))
}

// firstEvent begins a file.
func firstEvent(seconds float64) []byte {
	return appendBytes(appendTime(nil, seconds), eventVersion, []byte(version))
}

// summaryEvent holds scalars at one step.
func summaryEvent(seconds float64, step uint64, scalars []Scalar) []byte {
	var summary []byte
	for _, s := range scalars {
		value := appendBytes(nil, valueTag, []byte(s.Tag))
		value = binary.LittleEndian.AppendUint32(appendKey(value, valueSimple, wireFixed4), math.Float32bits(float32(s.Value)))
		summary = appendBytes(summary, summaryValue, value)
	}
	b := binary.AppendUvarint(appendKey(appendTime(nil, seconds), eventStep, wireVarint), step)
	return appendBytes(b, eventSummary, summary)
}

// stepOf returns the step of an event of this package; ok is false for the first event of a file and for what is none.
func stepOf(event []byte) (step uint64, ok bool) {
	for len(event) > 0 {
		key, n := binary.Uvarint(event)
		if n <= 0 {
			return 0, false
		}
		event = event[n:]
		switch key & 7 {
		case wireVarint:
			v, n := binary.Uvarint(event)
			if n <= 0 {
				return 0, false
			}
			if key>>3 == eventStep {
				step, ok = v, true
			}
			event = event[n:]
		case wireFixed8, wireFixed4:
			width := 8 - 4*int(key>>2&1)
			if len(event) < width {
				return 0, false
			}
			event = event[width:]
		case wireBytes:
			size, n := binary.Uvarint(event)
			if n <= 0 || size > uint64(len(event)-n) {
				return 0, false
			}
			event = event[n+int(size):]
		default:
			return 0, false
		}
	}
	return step, ok
}
