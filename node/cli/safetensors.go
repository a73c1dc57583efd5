package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/evoswarm/evoswarm/internal/policy"
)

// writeSafetensors writes theta as a safetensors file: eight bytes with the header's length, the header as JSON padded
// with spaces to a multiple of eight, then the values, all little-endian. Each part of the policy's layout is one
// float32 tensor: a weight has the shape [inputs, outputs] (PyTorch's is the transpose), a bias [outputs].
// meta must have its keys in the order they are to be written. Canonical.
//
// Source: https://github.com/huggingface/safetensors#format
func writeSafetensors(w io.Writer, layout []policy.Tensor, theta []float32, meta [][2]string) error {
	header, err := safetensorsHeader(layout, meta)
	if err != nil {
		return err
	}
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	buf = append(buf, header...)
	for _, t := range layout {
		for _, x := range theta[t.Offset : t.Offset+t.Rows*t.Cols] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
	}
	_, err = w.Write(buf)
	return err
}

func safetensorsHeader(layout []policy.Tensor, meta [][2]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"__metadata__":{`)
	for i, kv := range meta {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := member(&b, kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	at := 0
	for _, t := range layout {
		b.WriteByte(',')
		shape := []int{t.Rows, t.Cols}
		if t.Rows == 1 && strings.HasSuffix(t.Name, ".bias") {
			shape = shape[1:]
		}
		end := at + 4*t.Rows*t.Cols
		err := member(&b, t.Name, struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{"F32", shape, [2]int{at, end}})
		if err != nil {
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
		return fmt.Errorf("safetensors header: %w", err)
	}
	n, _ := json.Marshal(name)
	b.Write(n)
	b.WriteByte(':')
	b.Write(v)
	return nil
}
