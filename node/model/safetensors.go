package model

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// maxHeader bounds the header of a safetensors file.
const maxHeader = 1 << 20

// tensorHead is what the header says about one tensor.
type tensorHead struct {
	DType   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"`
}

// writeSafetensors writes eight bytes with the header's length, the header as JSON padded with spaces to a multiple of
// eight, then the values, all little-endian.
//
// Source: https://github.com/huggingface/safetensors#format
func writeSafetensors(w io.Writer, all []tensor, meta []pair) error {
	header, err := safetensorsHeader(all, meta)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)); err != nil {
		return err
	}
	for _, t := range all {
		data, err := t.load()
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

func safetensorsHeader(all []tensor, meta []pair) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"__metadata__":{`)
	for i, kv := range meta {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := member(&b, kv.key, kv.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	at := uint64(0)
	for _, t := range all {
		b.WriteByte(',')
		end := at + uint64(4*t.values())
		if err := member(&b, t.name, tensorHead{"F32", t.shape, [2]uint64{at, end}}); err != nil {
			return nil, err
		}
		at = end
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	return b.Bytes(), nil
}

// member writes one name and value of a JSON object.
func member(b *bytes.Buffer, name string, value any) error {
	v, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	n, _ := json.Marshal(name)
	b.Write(n)
	b.WriteByte(':')
	b.Write(v)
	return nil
}

// readSafetensors reads as strictly as the format's own library does: every byte of the data belongs to exactly one
// tensor.
func readSafetensors(data []byte) (map[string]string, []tensor, error) {
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("%w: %d bytes", ErrDamaged, len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	if n > maxHeader {
		return nil, nil, fmt.Errorf("%w: a header of %d bytes, at most %d", ErrTooLarge, n, maxHeader)
	}
	if n > uint64(len(data)) {
		return nil, nil, fmt.Errorf("%w: a header of %d bytes where the file has %d left", ErrDamaged, n, len(data))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[:n], &raw); err != nil {
		return nil, nil, fmt.Errorf("%w: header: %v", ErrDamaged, err)
	}
	var meta map[string]string
	if m, ok := raw["__metadata__"]; ok {
		if err := json.Unmarshal(m, &meta); err != nil {
			return nil, nil, fmt.Errorf("%w: metadata: %v", ErrDamaged, err)
		}
		delete(raw, "__metadata__")
	}
	all, err := safetensorsOf(raw, data[n:])
	return meta, all, err
}

// safetensorsOf lists the tensors in the order of their data.
func safetensorsOf(raw map[string]json.RawMessage, data []byte) ([]tensor, error) {
	type placed struct {
		tensor
		begin, end uint64
	}
	var all []placed
	for name, m := range raw {
		var h tensorHead
		if err := strictJSON(m, &h); err != nil {
			return nil, fmt.Errorf("%w: %.40q: %v", ErrDamaged, name, err)
		}
		if h.DType != "F32" {
			return nil, fmt.Errorf("%w: %.40q holds %.10q, not F32", ErrForeign, name, h.DType)
		}
		size, err := bytesOf(h.Shape)
		if err != nil {
			return nil, fmt.Errorf("%.40q: %w", name, err)
		}
		begin, end := h.Offsets[0], h.Offsets[1]
		if begin > end || end > uint64(len(data)) || end-begin != size {
			return nil, fmt.Errorf("%w: %.40q of shape %v lies at %d to %d of %d bytes", ErrDamaged, name, h.Shape, begin, end, len(data))
		}
		all = append(all, placed{tensor{name, h.Shape, func() ([]byte, error) { return data[begin:end], nil }}, begin, end})
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	at, out := uint64(0), make([]tensor, len(all))
	for i, t := range all {
		if t.begin != at {
			return nil, fmt.Errorf("%w: %.40q begins at %d, not at %d", ErrDamaged, t.name, t.begin, at)
		}
		at, out[i] = t.end, t.tensor
	}
	if at != uint64(len(data)) {
		return nil, fmt.Errorf("%w: %d bytes belong to no tensor", ErrDamaged, uint64(len(data))-at)
	}
	return out, nil
}
