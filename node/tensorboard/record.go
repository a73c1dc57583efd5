package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrDamaged is returned for a record whose checksum is wrong.
var ErrDamaged = errors.New("damaged record")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum of a TFRecord: CRC-32C, turned and shifted so that checksums of checksums differ.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// appendRecord appends data as a TFRecord: its length, the checksum of that, data, its checksum.
func appendRecord(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b[len(b)-8:]))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

// maxRecord bounds what is read; events of this package take some hundred bytes.
const maxRecord = 1 << 16

// readRecord returns the next record, io.EOF at the end of r, io.ErrUnexpectedEOF within a record, or ErrDamaged.
func readRecord(r io.Reader) ([]byte, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:8])
	if masked(head[:8]) != binary.LittleEndian.Uint32(head[8:]) || n > maxRecord {
		return nil, fmt.Errorf("%w: length %d", ErrDamaged, n)
	}
	data := make([]byte, n+4)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if masked(data[:n]) != binary.LittleEndian.Uint32(data[n:]) {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, n)
	}
	return data[:n], nil
}
