package model

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/policy"
)

// Limits of a file: theta in the widest form, and room for the rest.
const (
	maxBinary = 4*policy.MaxDim + 4*maxSlots*maxSlotValues + 1<<22
	maxText   = 20*policy.MaxDim + 20*maxSlots*maxSlotValues + 1<<22
)

// sniffed is how many bytes show the format.
const sniffed = 16

// Write writes the model in the given format. Canonical: the same model gives the same bytes.
func (m *Model) Write(w io.Writer, f Format) error {
	switch f {
	case Safetensors:
		return m.WriteSafetensors(w)
	case NPZ:
		return m.writeParts(w, writeNPZ)
	case JSON:
		return m.writeJSON(w)
	}
	return fmt.Errorf("%w: %q; known are safetensors, npz and json", ErrFormat, f)
}

// WriteSafetensors is Write for one format, for a program that should not hold the others: a tab.
func (m *Model) WriteSafetensors(w io.Writer) error { return m.writeParts(w, writeSafetensors) }

func (m *Model) writeParts(w io.Writer, write func(io.Writer, []tensor, []pair) error) error {
	all, err := m.tensors()
	if err != nil {
		return err
	}
	meta, err := m.metadata()
	if err != nil {
		return err
	}
	return write(w, all, meta)
}

// Sniff returns the format of a file from its first bytes; ok is false if it is no model.
func Sniff(start []byte) (f Format, ok bool) {
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return NPZ, true
	case len(start) > 8 && start[8] == '{' && binary.LittleEndian.Uint64(start) < 1<<32:
		return Safetensors, true
	case len(text) > 1 && text[0] == '{' && bytes.IndexByte([]byte("\"} \t\r\n"), text[1]) >= 0:
		return JSON, true
	}
	return "", false
}

// Read reads a model of any format. It checks that every value is there and that this build has the environment and
// the policy. Errors wrap ErrFormat, ErrDamaged, ErrForeign, ErrTooLarge, or are those of r.
func Read(r io.Reader) (*Model, error) {
	b := bufio.NewReader(r)
	start, err := b.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f, ok := Sniff(start)
	if !ok {
		return nil, fmt.Errorf("%w: it is neither safetensors nor npz nor JSON", ErrFormat)
	}
	limit := int64(maxBinary)
	if f == JSON {
		limit = maxText
	}
	data, err := io.ReadAll(io.LimitReader(b, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return decode(data, f)
}

func decode(data []byte, f Format) (*Model, error) {
	var meta map[string]string
	var all []tensor
	var err error
	switch f {
	case JSON:
		return readJSON(data)
	case NPZ:
		meta, all, err = readNPZ(data)
	default:
		meta, all, err = readSafetensors(data)
	}
	if err != nil {
		return nil, err
	}
	return assemble(meta, all)
}

// bytesOf returns the number of bytes of a tensor, which is at most what the largest file holds.
func bytesOf(shape []int) (uint64, error) {
	n := uint64(4)
	if len(shape) > 8 {
		return 0, fmt.Errorf("%w: %d dimensions", ErrDamaged, len(shape))
	}
	for _, d := range shape {
		if d < 0 || d > maxBinary {
			return 0, fmt.Errorf("%w: a dimension of %d", ErrDamaged, d)
		}
		if n *= uint64(d); n > maxBinary {
			return 0, fmt.Errorf("%w: a tensor of shape %v", ErrTooLarge, shape)
		}
	}
	return n, nil
}
