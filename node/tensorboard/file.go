package tensorboard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/evoswarm/evoswarm/node/curve"
)

// ErrOther is returned for a folder that has the events of another run: TensorBoard would draw both as one.
var ErrOther = errors.New("the folder has the events of another run")

// ErrFormat is returned for an event file that is not one of this package.
var ErrFormat = errors.New("not an event file of evonode")

// suffix ends the names of the event files of this package; TensorBoard knows them by what is before it.
const suffix = ".evoswarm"

// File is the learning curve of a run as events: one for each generation, whose number is the step.
type File struct {
	file *os.File
	ends []int64          // where the record of each generation that was there ends; ends[0] is that of the first event
	held uint64           // generations that are there
	end  int64            // of the last record
	now  func() time.Time // what the events' wall time is
}

// Open opens or creates the event file of a run in a folder, which it makes. now is the clock of the events.
func Open(dir, run string, now func() time.Time) (*File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "events.out.tfevents.0."+run+suffix)
	others, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"+suffix))
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other != name {
			return nil, fmt.Errorf("%w: %s", ErrOther, other)
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	e := &File{file: f, now: now}
	if err := e.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// read finds the generations that are there, up to the first damage.
func (f *File) read() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	r := bufio.NewReader(f.file)
	first, err := readRecord(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && info.Size() < 64 {
		return f.begin()
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	f.end = recordSize(first)
	f.ends = []int64{f.end}
	for {
		event, err := readRecord(r)
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrDamaged) {
			return nil // a crash tore it; what is missing is added again
		}
		if err != nil {
			return err
		}
		if step, ok := stepOf(event); !ok || step != f.held+1 {
			return fmt.Errorf("%w: an event of step %d after %d", ErrFormat, step, f.held)
		}
		f.held, f.end = f.held+1, f.end+recordSize(event)
		f.ends = append(f.ends, f.end)
	}
}

func (f *File) begin() error {
	b := appendRecord(nil, firstEvent(f.seconds()))
	if _, err := f.file.WriteAt(b, 0); err != nil {
		return err
	}
	f.end = int64(len(b))
	f.ends = []int64{f.end}
	return f.Keep(0)
}

// recordSize is the size of a record of that event.
func recordSize(event []byte) int64 { return int64(len(event)) + 16 }

// seconds is the time now [s since 1970].
func (f *File) seconds() float64 { return float64(f.now().UnixNano()) / 1e9 }

// Held is the number of generations that the file has.
func (f *File) Held() uint64 { return f.held }

// Check does nothing: the name of the file is that of the run.
func (f *File) Check(curve.Row) error { return nil }

// Keep leaves the first n generations.
func (f *File) Keep(n uint64) error {
	if n < f.held {
		f.held, f.end = n, f.ends[n]
	}
	if err := f.file.Truncate(f.end); err != nil {
		return err
	}
	_, err := f.file.Seek(0, io.SeekEnd)
	return err
}

// Append writes the next generation.
func (f *File) Append(row curve.Row) error {
	b := appendRecord(nil, summaryEvent(f.seconds(), row.Gen, scalars(row)))
	if _, err := f.file.Write(b); err != nil {
		return err
	}
	f.held, f.end = f.held+1, f.end+int64(len(b))
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// scalars names the values of a row.
func scalars(row curve.Row) []Scalar {
	all := []Scalar{
		{"fitness/best", row.Best}, {"fitness/mean", row.Mean},
		{"run/evaluations", float64(row.Evaluations)}, {"run/steps", float64(row.Steps)},
	}
	if row.Return != nil {
		all = append(all, Scalar{"return", *row.Return})
	}
	if row.Seconds != nil {
		all = append(all, Scalar{"run/seconds", *row.Seconds})
	}
	return all
}
