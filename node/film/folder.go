package film

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"time"
)

// folder writes a PNG for each frame.
type folder struct {
	dir     string
	added   int
	encoder png.Encoder
}

// NewFolder returns a writer of frames to an existing folder: 00000.png, 00001.png and so on. How long they
// are shown it does not say.
func NewFolder(dir string) Writer {
	return &folder{dir: dir, encoder: png.Encoder{BufferPool: new(buffers)}}
}

// Add implements [Writer].
func (f *folder) Add(img *image.RGBA, _ time.Duration) error {
	file, err := os.Create(filepath.Join(f.dir, fmt.Sprintf("%05d.png", f.added)))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	if err := errors.Join(f.encoder.Encode(w, img), w.Flush(), file.Close()); err != nil {
		return err
	}
	f.added++
	return nil
}

// Close implements [Writer].
func (f *folder) Close() error {
	if f.added == 0 {
		return fmt.Errorf("%w: none", ErrFrames)
	}
	return nil
}
