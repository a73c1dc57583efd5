package film

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"time"
)

// pngSignature begins a PNG (W3C Portable Network Graphics, third edition, 2025; 5.2).
const pngSignature = "\x89PNG\r\n\x1a\n"

// pngUnit is the unit in which frames of ours say how long they are shown.
const pngUnit = time.Millisecond

// apngWriter writes an animated PNG frame by frame. Package image/png makes each a PNG of its own, whose data
// is put into chunks of the animation.
type apngWriter struct {
	w        io.Writer
	frames   int // announced
	added    int
	sequence uint32 // number of the next chunk of the animation
	clock    clock
	canvas   canvas
	encoder  png.Encoder
	buffer   bytes.Buffer
	chunk    []byte
}

// NewAPNG returns a writer of an animated PNG of that many frames, at least one.
func NewAPNG(w io.Writer, frames int) Writer {
	return &apngWriter{w: w, frames: frames, clock: clock{unit: pngUnit}, encoder: png.Encoder{BufferPool: new(buffers)}}
}

// buffers keeps the memory of one encoder.
type buffers struct{ b *png.EncoderBuffer }

func (b *buffers) Get() *png.EncoderBuffer  { return b.b }
func (b *buffers) Put(x *png.EncoderBuffer) { b.b = x }

// Add implements [Writer]. Of a frame only the rectangle that is new is written.
func (a *apngWriter) Add(img *image.RGBA, hold time.Duration) error {
	if a.added == a.frames {
		return fmt.Errorf("%w: more than the %d that were announced", ErrFrames, a.frames)
	}
	part, err := a.canvas.next(img)
	if err != nil {
		return err
	}
	a.buffer.Reset()
	if err := a.encoder.Encode(&a.buffer, img.SubImage(part)); err != nil {
		return fmt.Errorf("PNG: %w", err)
	}
	if err := a.frame(a.buffer.Bytes()[len(pngSignature):], part, a.clock.span(hold)); err != nil {
		return err
	}
	a.added++
	return nil
}

// frame writes the chunks of a frame, from those of a PNG of its own.
func (a *apngWriter) frame(chunks []byte, part image.Rectangle, units int) error {
	controlled := false
	for len(chunks) > 0 {
		n := binary.BigEndian.Uint32(chunks)
		kind, data := string(chunks[4:8]), chunks[8:8+n]
		chunks = chunks[8+n+4:]
		var err error
		switch {
		case kind == "IHDR" && a.added == 0:
			err = a.head(data)
		case kind == "IDAT":
			if !controlled {
				err = a.control(part, units)
				controlled = true
			}
			if err == nil {
				err = a.data(data)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// head writes what comes before the first frame.
func (a *apngWriter) head(header []byte) error {
	if _, err := io.WriteString(a.w, pngSignature); err != nil {
		return err
	}
	if err := a.write("IHDR", header); err != nil {
		return err
	}
	animation := binary.BigEndian.AppendUint32(nil, uint32(a.frames))
	return a.write("acTL", binary.BigEndian.AppendUint32(animation, 0)) // without end
}

// control overwrites the position and duration of a frame.
func (a *apngWriter) control(part image.Rectangle, units int) error {
	b := a.numbered()
	for _, x := range []int{part.Dx(), part.Dy(), part.Min.X, part.Min.Y} {
		b = binary.BigEndian.AppendUint32(b, uint32(x))
	}
	b = binary.BigEndian.AppendUint16(b, uint16(min(units, 1<<16-1)))
	b = binary.BigEndian.AppendUint16(b, uint16(time.Second/pngUnit))
	return a.write("fcTL", append(b, 0, 0))
}

// data writes a piece of a frame.
func (a *apngWriter) data(piece []byte) error {
	if a.added == 0 {
		return a.write("IDAT", piece)
	}
	return a.write("fdAT", append(a.numbered(), piece...))
}

// numbered begins the data of a chunk of the animation with its number.
func (a *apngWriter) numbered() []byte {
	b := binary.BigEndian.AppendUint32(nil, a.sequence)
	a.sequence++
	return b
}

// write writes a chunk.
func (a *apngWriter) write(kind string, data []byte) error {
	b := binary.BigEndian.AppendUint32(a.chunk[:0], uint32(len(data)))
	b = append(append(b, kind...), data...)
	a.chunk = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	_, err := a.w.Write(a.chunk)
	return err
}

// Close implements [Writer].
func (a *apngWriter) Close() error {
	if a.added != a.frames || a.frames == 0 {
		return fmt.Errorf("%w: %d of %d", ErrFrames, a.added, a.frames)
	}
	return a.write("IEND", nil)
}
