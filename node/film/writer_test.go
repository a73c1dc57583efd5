package film

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/testnet/python"
)

// shot is a frame of a test film.
type shot struct {
	img  *image.RGBA
	hold time.Duration
}

// record writes a film to memory.
func record(t rapid.TB, f Format, shots []shot) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewGIF(&b, Light)
	if f == APNG {
		w = NewAPNG(&b, len(shots))
	}
	for _, s := range shots {
		if err := w.Add(s.img, s.hold); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// moving is a film of a thing that moves at 30 frames a second, and stands still for one frame.
func moving(t testing.TB, n int) []shot {
	p := newPainter(t, image.Pt(200, 100+captionHeight(200)), Light)
	var shots []shot
	for i := range n {
		x := float64(i-i/3) / 10
		img := p.Paint(sample(x), "", fmt.Sprintf("step %d", i-i/3))
		shots = append(shots, shot{&image.RGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}, time.Second / 30})
	}
	shots[n-1].hold = time.Second
	return shots
}

// reduced is a frame in the colors of the palette.
func reduced(img *image.RGBA) *image.RGBA {
	p := newPalette(Light)
	small := image.NewPaletted(img.Rect, p.colors)
	p.reduce(small, img)
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, small, image.Point{}, draw.Src)
	return out
}

// flat returns the pixels of a picture of our own.
func flat(img *image.RGBA) []byte {
	var all []byte
	for y := range img.Rect.Dy() {
		all = append(all, img.Pix[y*img.Stride:y*img.Stride+4*img.Rect.Dx()]...)
	}
	return all
}

// checkGIF decodes a film with image/gif and lays its frames over each other.
func checkGIF(t rapid.TB, data []byte, shots []shot) (centiseconds int) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	size := shots[0].img.Rect
	if len(g.Image) != len(shots) || g.LoopCount != 0 || g.Config.Width != size.Dx() || g.Config.Height != size.Dy() {
		t.Fatalf("%d frames of %dx%d, loop %d; want %d of %v, 0", len(g.Image), g.Config.Width, g.Config.Height, g.LoopCount, len(shots), size)
	}
	screen := image.NewRGBA(size)
	for i, part := range g.Image {
		draw.Draw(screen, part.Rect, part, part.Rect.Min, draw.Over)
		if g.Disposal[i] > gif.DisposalNone {
			t.Fatalf("frame %d is disposed of by %d", i, g.Disposal[i])
		}
		if !bytes.Equal(screen.Pix, reduced(shots[i].img).Pix) {
			t.Fatalf("frame %d is another picture", i)
		}
		centiseconds += g.Delay[i]
	}
	return centiseconds
}

// checkAPNG takes an animation apart, decodes each frame with image/png, and lays them over each other.
func checkAPNG(t rapid.TB, data []byte, shots []shot) (milliseconds int) {
	t.Helper()
	first, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	screen := image.NewRGBA(first.Bounds())
	var header, pieces []byte
	var control []byte
	sequence, frames := uint32(0), 0
	number := func(b []byte) {
		if got := binary.BigEndian.Uint32(b); got != sequence {
			t.Fatalf("chunk %d of the animation has number %d", sequence, got)
		}
		sequence++
	}
	end := func() {
		if control == nil {
			return
		}
		w, h := binary.BigEndian.Uint32(control[4:]), binary.BigEndian.Uint32(control[8:])
		x, y := binary.BigEndian.Uint32(control[12:]), binary.BigEndian.Uint32(control[16:])
		var b bytes.Buffer
		b.WriteString(pngSignature)
		a := apngWriter{w: &b}
		own := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h), header[8:]...)
		for _, c := range []struct {
			kind string
			data []byte
		}{{"IHDR", own}, {"IDAT", pieces}, {"IEND", nil}} {
			if err := a.write(c.kind, c.data); err != nil {
				t.Fatal(err)
			}
		}
		part, err := png.Decode(&b)
		if err != nil {
			t.Fatalf("frame %d: %v", frames, err)
		}
		draw.Draw(screen, part.Bounds().Add(image.Pt(int(x), int(y))), part, image.Point{}, draw.Src)
		if !bytes.Equal(screen.Pix, flat(shots[frames].img)) {
			t.Fatalf("frame %d is another picture", frames)
		}
		if string(control[24:]) != "\x00\x00" || binary.BigEndian.Uint16(control[22:]) != 1000 {
			t.Fatalf("frame %d has the control %x", frames, control)
		}
		milliseconds += int(binary.BigEndian.Uint16(control[20:]))
		frames++
		pieces = nil
	}
	for rest := data[len(pngSignature):]; len(rest) > 0; {
		n := binary.BigEndian.Uint32(rest)
		kind, body := string(rest[4:8]), rest[8:8+n]
		rest = rest[12+n:]
		switch kind {
		case "IHDR":
			header = body
		case "acTL":
			if got := binary.BigEndian.Uint32(body); int(got) != len(shots) || binary.BigEndian.Uint32(body[4:]) != 0 {
				t.Fatalf("acTL is %x, want %d frames without end", body, len(shots))
			}
		case "fcTL":
			end()
			number(body)
			control = body
		case "IDAT":
			pieces = append(pieces, body...)
		case "fdAT":
			number(body)
			pieces = append(pieces, body[4:]...)
		case "IEND":
			end()
		}
	}
	if frames != len(shots) {
		t.Fatalf("%d frames, want %d", frames, len(shots))
	}
	return milliseconds
}

// The standard library finds every frame in its place, and the film takes as long as it should.
func TestDecoded(t *testing.T) {
	shots := moving(t, 31) // a second and the end
	if got := checkGIF(t, record(t, GIF, shots), shots); got != 200 {
		t.Errorf("the GIF takes %d hundredths of a second, want 200", got)
	}
	if got := checkAPNG(t, record(t, APNG, shots), shots); got != 2000 {
		t.Errorf("the PNG takes %d ms, want 2000", got)
	}
}

// Any pictures one after another come back as they were.
func TestAnyFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := image.Rect(0, 0, rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height"))
		img := image.NewRGBA(size)
		draw.Draw(img, size, image.NewUniform(Light.Paper), image.Point{}, draw.Src)
		var shots []shot
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				at := image.Pt(rapid.IntRange(0, 19).Draw(t, "x"), rapid.IntRange(0, 19).Draw(t, "y"))
				c := opaque(rapid.Uint32Range(0, 0xffffff).Draw(t, "color"))
				draw.Draw(img, image.Rectangle{Min: at, Max: at.Add(image.Pt(3, 2))}, image.NewUniform(c), image.Point{}, draw.Src)
			}
			shots = append(shots, shot{&image.RGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: size}, 20 * time.Millisecond})
		}
		checkGIF(t, record(t, GIF, shots), shots)
		checkAPNG(t, record(t, APNG, shots), shots)
	})
}

// Pillow finds the same pictures.
func TestPillow(t *testing.T) {
	type frame struct {
		MS     float64 `json:"ms"`
		Pixels string  `json:"pixels"`
	}
	type found struct {
		Format string  `json:"format"`
		Size   []int   `json:"size"`
		Loop   int     `json:"loop"`
		Frames []frame `json:"frames"`
	}
	shots := moving(t, 7)
	for _, f := range []Format{GIF, APNG} {
		path := filepath.Join(t.TempDir(), "film."+string(f))
		if err := os.WriteFile(path, record(t, f, shots), 0o600); err != nil {
			t.Fatal(err)
		}
		want := found{Format: map[Format]string{GIF: "GIF", APNG: "PNG"}[f], Size: []int{shots[0].img.Rect.Dx(), shots[0].img.Rect.Dy()}}
		units := clock{unit: map[Format]time.Duration{GIF: gifUnit, APNG: pngUnit}[f]}
		for _, s := range shots {
			img := s.img
			if f == GIF {
				img = reduced(img)
			}
			sum := sha256.New()
			for y := range img.Rect.Dy() {
				for x := range img.Rect.Dx() {
					c := img.RGBAAt(x, y)
					sum.Write([]byte{c.R, c.G, c.B})
				}
			}
			want.Frames = append(want.Frames, frame{float64((time.Duration(units.span(s.hold)) * units.unit).Milliseconds()), hex.EncodeToString(sum.Sum(nil))})
		}
		var got found
		if err := json.Unmarshal(python.Run(t, "testdata/read.py", path), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-ours +Pillow's):\n%s", f, diff)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	w := NewFolder(dir)
	shots := moving(t, 3)
	for _, s := range shots {
		if err := w.Add(s.img, s.hold); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range shots {
		in, err := os.Open(filepath.Join(dir, fmt.Sprintf("%05d.png", i)))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		img, err := png.Decode(in)
		if err != nil {
			t.Fatal(err)
		}
		got := image.NewRGBA(img.Bounds())
		draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
		if !bytes.Equal(got.Pix, flat(s.img)) {
			t.Errorf("frame %d is another picture", i)
		}
	}
}

// Time is rounded as a whole, not frame by frame.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{unit: gifUnit}
		fps := rapid.IntRange(1, 200).Draw(t, "frames in a second")
		n := rapid.IntRange(1, 500).Draw(t, "frames")
		told := 0
		for range n {
			told += c.span(time.Second / time.Duration(fps))
		}
		if want := time.Duration(n) * time.Second / time.Duration(fps); (time.Duration(told)*gifUnit - want).Abs() > gifUnit {
			t.Fatalf("%d frames take %v, want %v", n, time.Duration(told)*gifUnit, want)
		}
	})
}

// full is a disk that is full after some bytes.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// An error of the disk comes out, wherever it happens.
func TestFullDisk(t *testing.T) {
	shots := moving(t, 3)
	for _, f := range []Format{GIF, APNG} {
		whole := len(record(t, f, shots))
		for n := 0; n < whole; n += 97 {
			w := NewGIF(&full{n}, Light)
			if f == APNG {
				w = NewAPNG(&full{n}, len(shots))
			}
			var err error
			for _, s := range shots {
				if err == nil {
					err = w.Add(s.img, s.hold)
				}
			}
			if err == nil {
				err = w.Close()
			}
			if !errors.Is(err, errFull) {
				t.Fatalf("%s: %v after %d of %d bytes", f, err, n, whole)
			}
		}
	}
}

func TestWrongFrames(t *testing.T) {
	small, large := image.NewRGBA(image.Rect(0, 0, 2, 2)), image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range small.Pix {
		small.Pix[i] = 255
	}
	for i := range large.Pix {
		large.Pix[i] = 255
	}
	var b bytes.Buffer
	for name, w := range map[string]Writer{"GIF": NewGIF(&b, Light), "APNG": NewAPNG(&b, 2), "folder": NewFolder(t.TempDir())} {
		if err := w.Close(); !errors.Is(err, ErrFrames) {
			t.Errorf("%s without frames: %v", name, err)
		}
		if name == "folder" {
			continue
		}
		if err := w.Add(small, time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Add(large, time.Second); !errors.Is(err, ErrFrames) {
			t.Errorf("%s with a larger frame: %v", name, err)
		}
	}
	w := NewAPNG(&b, 1)
	if err := w.Add(small, 0); err != nil {
		t.Error(err)
	}
	if err := w.Add(small, 0); !errors.Is(err, ErrFrames) {
		t.Errorf("more frames than announced: %v", err)
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.gif": GIF, "b/c.PNG": APNG, "x.apng": APNG, "gif": "", "a.webp": "", "": ""} {
		got, err := FormatOf(name)
		if got != want || (want == "") != errors.Is(err, ErrFormat) {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	p := newPainter(b, image.Pt(600, 426), Light)
	for name, w := range map[string]Writer{"gif": NewGIF(new(full), Light), "apng": NewAPNG(new(full), 1<<30)} {
		switch w := w.(type) {
		case *gifWriter:
			w.w = &full{1 << 60}
		case *apngWriter:
			w.w = &full{1 << 60}
		}
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := w.Add(p.Paint(sample(float64(i%100)/50), "Cart Pole", fmt.Sprint(i)), time.Second); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
