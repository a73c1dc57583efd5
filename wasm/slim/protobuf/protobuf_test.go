package protobuf_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub/pb"
	crypto "github.com/libp2p/go-libp2p/core/crypto/pb"
	peer "github.com/libp2p/go-libp2p/core/peer/pb"
	record "github.com/libp2p/go-libp2p/core/record/pb"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/pb"
	identify "github.com/libp2p/go-libp2p/p2p/protocol/identify/pb"
	noise "github.com/libp2p/go-libp2p/p2p/security/noise/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/evoswarm/evoswarm/wasm/slim/protobuf"
)

// messages are those that libp2p sends and signs.
var messages = []proto.Message{
	new(pubsub.RPC), new(pubsub.Message), new(pubsub.TraceEvent),
	new(crypto.PublicKey), new(crypto.PrivateKey), new(peer.PeerRecord), new(record.Envelope),
	new(circuit.HopMessage), new(circuit.StopMessage), new(circuit.ReservationVoucher),
	new(identify.Identify), new(noise.NoiseHandshakePayload), new(noise.NoiseExtensions),
}

func like(m proto.Message) proto.Message { return m.ProtoReflect().New().Interface() }

// fill sets fields of m at random; required ones too, but for one time in eight.
func fill(r *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		required := f.Cardinality() == protoreflect.Required && r.IntN(32) > 0
		if !required && r.IntN(2) == 0 {
			continue
		}
		if f.IsList() {
			list := m.Mutable(f).List()
			for range r.IntN(4) {
				if f.Message() != nil {
					if depth > 0 {
						fill(r, list.AppendMutable().Message(), depth-1)
					}
					continue
				}
				list.Append(scalar(r, f))
			}
			continue
		}
		if f.Message() == nil {
			m.Set(f, scalar(r, f))
		} else if depth > 0 {
			fill(r, m.Mutable(f).Message(), depth-1)
		}
	}
	if r.IntN(4) == 0 {
		m.SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 3000, protowire.BytesType), octets(r)))
	}
}

func octets(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(200))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func scalar(r *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	x := r.Uint64() >> r.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(x&1 == 1)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(x)))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(x))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(x))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(x))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(x)
	case protoreflect.StringKind:
		if r.IntN(8) == 0 {
			return protoreflect.ValueOfString("\xff") // not UTF-8
		}
		return protoreflect.ValueOfString("μ" + string(rune('a'+x%26)))
	}
	return protoreflect.ValueOfBytes(octets(r))
}

// TestSameAsGoogle compares every function with google.golang.org/protobuf, on messages filled at random.
func TestSameAsGoogle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	refused, written := 0, 0
	for _, kind := range messages {
		for range 2000 {
			m := like(kind)
			fill(r, m.ProtoReflect(), 3)
			want, wantErr := proto.Marshal(m)
			got, err := protobuf.Append([]byte("before"), m)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%T: %v, want %v", m, err, wantErr)
			}
			if protobuf.Size(m) != proto.Size(m) {
				t.Fatalf("%T: size %d, want %d", m, protobuf.Size(m), proto.Size(m))
			}
			if err != nil {
				refused++
				continue
			}
			written++
			if !bytes.Equal(got, append([]byte("before"), want...)) {
				t.Fatalf("%T %v:\n%x, want\n%x", m, m, got[6:], want)
			}
			same(t, kind, want)

			dst := like(kind)
			fill(r, dst.ProtoReflect(), 3)
			merged := proto.Clone(dst)
			proto.Merge(merged, m)
			protobuf.Merge(dst, m)
			if !proto.Equal(dst, merged) {
				t.Fatalf("%T: merged\n%v, want\n%v", m, dst, merged)
			}
			clear(want) // nothing may share memory with what it was read from
		}
	}
	if refused == 0 || written < 10000 {
		t.Errorf("%d messages were written and %d refused, which shows nothing", written, refused)
	}
}

// same reads b with both.
func same(t *testing.T, kind proto.Message, b []byte) {
	t.Helper()
	want, got := like(kind), like(kind)
	wantErr, err := proto.Unmarshal(b, want), protobuf.Unmarshal(b, got)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%T from %x: %v, want %v", kind, b, err, wantErr)
	}
	if err != nil {
		return
	}
	if !proto.Equal(got, want) || !bytes.Equal(got.ProtoReflect().GetUnknown(), want.ProtoReflect().GetUnknown()) {
		t.Fatalf("%T from %x:\n%v, want\n%v", kind, b, got, want)
	}
	if !samePresence(reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem()) {
		t.Fatalf("%T from %x: other fields are nil than in %v", kind, b, want)
	}
}

// samePresence compares what is nil, which proto.Equal does not for bytes.
func samePresence(a, b reflect.Value) bool {
	for i := range a.NumField() {
		switch f := a.Type().Field(i); {
		case !f.IsExported():
		case a.Field(i).Kind() == reflect.Slice || a.Field(i).Kind() == reflect.Pointer:
			if a.Field(i).IsNil() != b.Field(i).IsNil() {
				return false
			}
		}
	}
	return true
}

// TestRequired: who reads a message without a field that it must have is told so.
func TestRequired(t *testing.T) {
	if err := protobuf.Unmarshal(nil, new(crypto.PublicKey)); !errors.Is(err, protobuf.ErrRequired) {
		t.Errorf("a key without a type: %v", err)
	}
	if _, err := protobuf.Append(nil, new(crypto.PublicKey)); !errors.Is(err, protobuf.ErrRequired) {
		t.Errorf("writing a key without a type: %v", err)
	}
}

// FuzzUnmarshal: what a stranger sends is read, or refused, as google.golang.org/protobuf does.
func FuzzUnmarshal(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for i, kind := range messages {
		for range 4 {
			m := like(kind)
			fill(r, m.ProtoReflect(), 3)
			if b, err := proto.Marshal(m); err == nil {
				f.Add(uint8(i), b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) { same(t, messages[int(kind)%len(messages)], b) })
}
