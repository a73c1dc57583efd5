package verb

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// IO is what a verb reads from and writes to.
type IO struct {
	In       io.Reader
	Out      io.Writer // results
	Err      io.Writer // everything else
	Terminal bool      // whether Err is a terminal, on which a line can be rewritten
	Color    bool      // whether Err shows colors
	Start    time.Time // of the process: what "seconds" is counted from
}

// Standard returns the process's own streams.
func Standard() *IO {
	terminal := isTerminal(os.Stderr)
	color := terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: terminal, Color: color, Start: processStart}
}

// processStart is as early as Go code of the process can tell the time.
var processStart = time.Now()

// isTerminal reports whether f is a character device that is not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Seconds is how long the process runs.
func (s *IO) Seconds() float64 { return time.Since(s.Start).Seconds() }

// PrintJSON prints v as one line.
func (s *IO) PrintJSON(v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Note tells the user something that is neither a result nor a failure.
func (s *IO) Note(format string, args ...any) {
	fmt.Fprintf(s.Err, "evonode: %s\n", plainly(fmt.Sprintf(format, args...)))
}

// Open returns the named file, or standard input for "-". The caller closes it.
func (s *IO) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(bufio.NewReader(s.In)), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a folder", name)
	}
	return f, nil
}

// Called is what messages call the named file.
func Called(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// WriteWhole writes the named file, all of it or nothing.
func WriteWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	err = write(f)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Number prints a return that may be missing.
func Number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *x)
}

// YesNo prints a truth value.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Plural counts things: 1 core, 2 cores.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Amount prints a positive number in at most five letters: 50.0, 25.0k, 1.2M.
func Amount(x float64) string {
	for _, unit := range []string{"", "k", "M"} {
		if x < 999.95 {
			return fmt.Sprintf("%.1f%s", x, unit)
		}
		x /= 1000
	}
	return fmt.Sprintf("%.1fG", x)
}
