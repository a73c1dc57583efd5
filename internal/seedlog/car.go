package seedlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var (
	// ErrNotSeedlog is returned for bytes that do not start like a seed log.
	ErrNotSeedlog = errors.New("seedlog: not a seed log")
	// ErrTorn is returned where a file ends within a block or a generation.
	ErrTorn = errors.New("seedlog: torn: the file ends within a generation")
	// ErrMissing is returned where a block that others name is missing.
	ErrMissing = errors.New("seedlog: missing block")
)

// FileError says where in a file an error is.
type FileError struct {
	Height uint64 // of the generation being read; 0 for the header and the genesis block
	Offset int64  // of the section being read, in bytes from the start of the file
	Err    error
}

// Error implements error.
func (e *FileError) Error() string {
	return fmt.Sprintf("height %d, offset %d: %v", e.Height, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// A CAR v1 file is a header and then sections, each after its length as a varint. The header is the DAG-CBOR
// of {"roots": [genesis], "version": 1}; only the 36 bytes of the link in it vary. A section is a CID and the
// block it names.
const (
	carHead   = "\x3a\xa2\x65roots\x81\xd8\x2a\x58\x25\x00"
	carTail   = "\x67version\x01"
	headerLen = len(carHead) + linkLen + len(carTail)
)

// linkPrefix begins every link's bytes: CID v1, dag-cbor, sha2-256, 32 bytes.
var linkPrefix = []byte{0x01, 0x71, 0x12, 0x20}

// AppendHeader appends the CAR header of the run to b.
func AppendHeader(b []byte, run Link) []byte {
	return append(append(append(b, carHead...), run.Bytes()...), carTail...)
}

// AppendSection appends the CAR section of block to b and returns the block's link.
func AppendSection(b, block []byte) ([]byte, Link) {
	link := LinkOf(block)
	return AppendLinked(b, link, block), link
}

// AppendLinked is AppendSection for a block whose link is known.
func AppendLinked(b []byte, link Link, block []byte) []byte {
	b = binary.AppendUvarint(b, uint64(linkLen+len(block)))
	return append(append(b, link.Bytes()...), block...)
}

// SectionLen is the length of the section of a block of n bytes.
func SectionLen(n int) int64 {
	size := linkLen + n
	return int64(len(binary.AppendUvarint(nil, uint64(size))) + size)
}

// Sections reads the sections of a CAR file one after another and checks each block against its link.
type Sections struct {
	r      io.Reader
	offset int64 // of the next section
	buf    [1]byte
}

// NewSections reads the header from r and returns the reader of what follows, and the link of the root. Errors wrap
// ErrNotSeedlog or ErrTorn, or are those of r. It reads no byte of r more than it returns; r should be buffered.
func NewSections(r io.Reader) (*Sections, Link, error) {
	s := &Sections{r: r}
	b := make([]byte, headerLen)
	n, err := io.ReadFull(r, b)
	b = b[:n]
	head := b[:min(n, len(carHead))]
	if !bytes.HasPrefix([]byte(carHead), head) {
		return nil, Link{}, fmt.Errorf("%w: it does not start with the header of a CAR file with one root", ErrNotSeedlog)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, Link{}, fmt.Errorf("%w: header of %d bytes", ErrTorn, n)
	}
	if err != nil {
		return nil, Link{}, err
	}
	root, err := LinkFromBytes(b[len(carHead) : len(carHead)+linkLen])
	if err != nil || string(b[len(carHead)+linkLen:]) != carTail {
		return nil, Link{}, fmt.Errorf("%w: the header is not that of CAR version 1 with one root", ErrNotSeedlog)
	}
	s.offset = int64(headerLen)
	return s, root, nil
}

// ResumeSections returns the reader of the sections from an offset of a file on, which r begins with.
func ResumeSections(r io.Reader, offset int64) *Sections { return &Sections{r: r, offset: offset} }

// Offset is where the next section begins.
func (s *Sections) Offset() int64 { return s.offset }

// Next returns the next block, which the caller owns, and its link. At the end of the file it returns io.EOF;
// if the file ends within a section, ErrTorn. A damaged section gives ErrLink, ErrMalformed or ErrTooLarge;
// after any error the place in the file is lost.
func (s *Sections) Next() ([]byte, Link, error) {
	size, width, err := s.length()
	if err != nil {
		return nil, Link{}, err
	}
	if size <= linkLen {
		return nil, Link{}, fmt.Errorf("%w: section of %d bytes", ErrMalformed, size)
	}
	if size > linkLen+MaxBlockBytes {
		return nil, Link{}, fmt.Errorf("%w: section of %d bytes, at most %d", ErrTooLarge, size, linkLen+MaxBlockBytes)
	}
	b := make([]byte, size)
	n, err := io.ReadFull(s.r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, Link{}, tear(b[:n])
	}
	if err != nil {
		return nil, Link{}, err
	}
	link, err := LinkFromBytes(b[:linkLen])
	if err != nil {
		return nil, Link{}, err
	}
	if got := LinkOf(b[linkLen:]); got != link {
		return nil, Link{}, fmt.Errorf("%w: a block that hashes to %s under the name %s", ErrLink, got, link)
	}
	s.offset += int64(width + size)
	return b[linkLen:], link, nil
}

// length reads a section's length: an unsigned varint in its shortest form, at most four bytes wide.
func (s *Sections) length() (size, width int, err error) {
	for width < 4 {
		if _, err := io.ReadFull(s.r, s.buf[:]); err != nil {
			if err == io.EOF && width > 0 {
				err = ErrTorn
			}
			return 0, 0, err
		}
		c := s.buf[0]
		size |= int(c&0x7f) << (7 * width)
		width++
		if c < 0x80 {
			if c == 0 && width > 1 {
				return 0, 0, fmt.Errorf("%w: length not in its shortest form", ErrMalformed)
			}
			return size, width, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: section with a length of more than %d bytes", ErrTooLarge, width)
}

// tear distinguishes a section cut off by the end of the file from one with a damaged length: what remains of
// a cut section begins with a link, and with no whole block of that link.
func tear(b []byte) error {
	if n := min(len(b), len(linkPrefix)); !bytes.Equal(b[:n], linkPrefix[:n]) {
		return fmt.Errorf("%w: a section that does not begin with a link", ErrMalformed)
	}
	if len(b) > linkLen {
		if rest, err := looseMode.UnmarshalFirst(b[linkLen:], new(any)); err == nil {
			if link := LinkOf(b[linkLen : len(b)-len(rest)]); bytes.Equal(link.Bytes(), b[:linkLen]) {
				return fmt.Errorf("%w: the length of a section does not fit its block", ErrMalformed)
			}
		}
	}
	return ErrTorn
}
