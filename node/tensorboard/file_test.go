package tensorboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/node/curve"
	"github.com/evoswarm/evoswarm/testnet/python"
)

// clock tells a time that can be said exactly.
func clock() time.Time { return time.Unix(1700000000, 500000000) }

func row(gen uint64) curve.Row {
	r := curve.Row{Gen: gen, Evaluations: 16 * gen, Steps: 1000 * gen, Best: float64(gen) + 0.5, Mean: -float64(gen)}
	if gen%2 == 0 {
		ret, seconds := float64(10*gen), float64(gen)/4
		r.Return, r.Seconds = &ret, &seconds
	}
	return r
}

func open(t testing.TB, dir string) *File {
	t.Helper()
	f, err := Open(dir, "bafyrun", clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t testing.TB, f *File, gens ...uint64) {
	t.Helper()
	for _, g := range gens {
		if err := f.Append(row(g)); err != nil {
			t.Fatal(err)
		}
	}
}

// TensorBoard itself finds every value at its step, also in a file that was gone on with.
func TestTensorBoard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "a")
	f := open(t, dir)
	write(t, f, 1, 2, 3)
	f.Close()
	f = open(t, dir)
	if f.Held() != 3 {
		t.Fatalf("%d generations are held, want 3", f.Held())
	}
	if err := f.Keep(2); err != nil {
		t.Fatal(err)
	}
	write(t, f, 3, 4)
	f.Close()
	var got map[string][][3]float64
	if err := json.Unmarshal(python.Run(t, "testdata/read.py", dir), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string][][3]float64{}
	for gen := uint64(1); gen <= 4; gen++ {
		for _, s := range scalars(row(gen)) {
			want[s.Tag] = append(want[s.Tag], [3]float64{float64(gen), s.Value, 1700000000.5})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scalars (-ours +TensorBoard's):\n%s", diff)
	}
}

// Whatever a crash leaves of the last event, the file is gone on with as if it had not been begun.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	write(t, f, 1)
	one := int(f.end)
	write(t, f, 2)
	whole, err := os.ReadFile(f.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for n := range len(whole) {
		if err := os.WriteFile(f.file.Name(), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, dir)
		held := again.Held()
		if want := uint64(0); n >= one && held != 1 || n < one && held != want {
			t.Fatalf("cut to %d bytes: %d generations are held", n, held)
		}
		if err := again.Keep(held); err != nil {
			t.Fatal(err)
		}
		for g := held + 1; g <= 2; g++ {
			write(t, again, g)
		}
		again.Close()
		if got, err := os.ReadFile(f.file.Name()); err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("cut to %d bytes and gone on with, the file differs (%v)", n, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if _, err := Open(dir, "bafyother", clock); !errors.Is(err, ErrOther) {
		t.Errorf("another run: %v", err)
	}
	for i, data := range [][]byte{
		[]byte("this is text, and not the events of a run; it is longer than one event"),
		appendRecord(appendRecord(nil, firstEvent(0)), summaryEvent(0, 2, nil)),
		appendRecord(appendRecord(nil, firstEvent(0)), []byte{0xff}),
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "events.out.tfevents.0.bafyrun"+suffix)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "bafyrun", clock); !errors.Is(err, ErrFormat) {
			t.Errorf("file %d: %v", i, err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("file %d was changed (%v)", i, err)
		}
	}
}

// The checksum of RFC 3720, B.4, masked as TensorFlow does.
func TestMasked(t *testing.T) {
	crc := uint32(0x8a9136aa) // of 32 zeros
	if got, want := masked(make([]byte, 32)), (crc>>15|crc<<17)+0xa282ead8; got != want {
		t.Errorf("masked checksum %#x, want %#x", got, want)
	}
}

func FuzzStep(f *testing.F) {
	f.Add(firstEvent(1))
	f.Add(summaryEvent(1, 77, scalars(row(2))))
	f.Fuzz(func(t *testing.T, data []byte) {
		step, ok := stepOf(data)
		if !ok {
			return
		}
		if got, ok := stepOf(summaryEvent(0, step, nil)); got != step || !ok {
			t.Errorf("step %d is read as %d", step, got)
		}
		if _, err := readRecord(bytes.NewReader(appendRecord(nil, data))); err != nil && len(data) <= maxRecord {
			t.Error(fmt.Errorf("a record is not read: %w", err))
		}
	})
}
