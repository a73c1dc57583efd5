package curve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

var (
	// ErrFormat is returned for a file that is no learning curve.
	ErrFormat = errors.New("not a learning curve file")
	// ErrOther is returned for a curve and a log of different runs.
	ErrOther = errors.New("the learning curve of another run")
)

// Header is the first line of a CSV file; the names are those of train --json.
const Header = "gen,evaluations,steps,seconds,best,mean,return"

// maxLine bounds a line.
const maxLine = 1 << 10

// CSV is a learning curve as a CSV file: a line for each generation, in order from the first, without a gap. Unknown
// values are empty.
type CSV struct {
	file *os.File
	rows []Row   // that were there when it was opened
	ends []int64 // where the line of each of those ends; ends[0] is that of the header
	held uint64
	end  int64 // where the last line ends
}

// OpenCSV opens or creates the named file. It changes nothing in a file that is no curve.
func OpenCSV(name string) (*CSV, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	c := &CSV{file: f}
	if err := c.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

func (c *CSV) read() error {
	start := make([]byte, len(Header)+1)
	n, err := c.file.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n <= len(Header) && strings.HasPrefix(Header, string(start[:n])) { // new, or a crash tore the first line
		c.end, c.ends = int64(len(start)), []int64{int64(len(start))}
		_, err := c.file.WriteAt([]byte(Header+"\n"), 0)
		return err
	}
	return scan(c.file, func(row Row, end int64) error {
		if row.Gen != uint64(len(c.rows))+1 {
			return fmt.Errorf("%w: generation %d after %d", ErrFormat, row.Gen, len(c.rows))
		}
		c.rows, c.ends = append(c.rows, row), append(c.ends, end)
		c.held, c.end = row.Gen, end
		return nil
	}, func(end int64) { c.ends, c.end = []int64{end}, end })
}

// Held is the number of generations that the file has.
func (c *CSV) Held() uint64 { return c.held }

// Seconds is the last time in the file, 0 if there is none.
func (c *CSV) Seconds() float64 {
	for i := len(c.rows) - 1; i >= 0; i-- {
		if s := c.rows[i].Seconds; s != nil {
			return *s
		}
	}
	return 0
}

// Check compares a generation of the log with the row that is held for it. The error wraps ErrOther.
func (c *CSV) Check(row Row) error {
	held := c.rows[row.Gen-1]
	if held.Evaluations != row.Evaluations || held.Steps != row.Steps || held.Best != row.Best || held.Mean != row.Mean {
		return fmt.Errorf("%w: %s has other figures for generation %d than the log", ErrOther, c.file.Name(), row.Gen)
	}
	return nil
}

// Keep leaves the first n generations, and cuts what a crash left of a line.
func (c *CSV) Keep(n uint64) error {
	if n < c.held {
		c.rows, c.held, c.end = c.rows[:n], n, c.ends[n]
	}
	if err := c.file.Truncate(c.end); err != nil {
		return err
	}
	_, err := c.file.Seek(0, io.SeekEnd)
	return err
}

// Append writes the next generation.
func (c *CSV) Append(row Row) error {
	line := row.line()
	if _, err := c.file.WriteString(line); err != nil {
		return err
	}
	c.held, c.end = c.held+1, c.end+int64(len(line))
	return nil
}

// Close closes the file.
func (c *CSV) Close() error { return c.file.Close() }

// ReadCSV reads a curve. A last line that has no end was torn, or is still being written: it is left out.
func ReadCSV(r io.Reader) ([]Row, error) {
	var rows []Row
	err := scan(r, func(row Row, _ int64) error {
		if len(rows) > 0 && row.Gen <= rows[len(rows)-1].Gen {
			return fmt.Errorf("%w: generation %d after %d", ErrFormat, row.Gen, rows[len(rows)-1].Gen)
		}
		rows = append(rows, row)
		return nil
	}, func(int64) {})
	return rows, err
}

// IsCSV reports whether a file that begins with start is a curve.
func IsCSV(start []byte) bool { return bytes.HasPrefix(start, []byte(Header[:16])) }

// scan calls each for every row with where its line ends, after header with where that ends.
func scan(r io.Reader, each func(Row, int64) error, header func(int64)) error {
	b := bufio.NewReaderSize(r, maxLine)
	var end int64
	for n := 0; ; n++ {
		line, err := b.ReadSlice('\n')
		switch {
		case err == io.EOF && n > 0:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%w: line %d is too long", ErrFormat, n+1)
		case err != nil && err != io.EOF:
			return err
		}
		end += int64(len(line))
		text := strings.TrimRight(string(line), "\r\n")
		if n == 0 {
			if text != Header || err != nil {
				return fmt.Errorf("%w: its first line is %.60q, not %q", ErrFormat, text, Header)
			}
			header(end)
			continue
		}
		row, err := parseRow(text)
		if err == nil {
			err = each(row, end)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
	}
}

// line is the row as the file has it.
func (r Row) line() string {
	b := strconv.AppendUint(nil, r.Gen, 10)
	b = strconv.AppendUint(append(b, ','), r.Evaluations, 10)
	b = strconv.AppendUint(append(b, ','), r.Steps, 10)
	for _, x := range []*float64{r.Seconds, &r.Best, &r.Mean, r.Return} {
		b = append(b, ',')
		if x != nil {
			b = strconv.AppendFloat(b, *x, 'g', -1, 64)
		}
	}
	return string(append(b, '\n'))
}

func parseRow(text string) (Row, error) {
	fields := strings.Split(text, ",")
	if want := strings.Count(Header, ",") + 1; len(fields) != want {
		return Row{}, fmt.Errorf("%w: %d values, want %d", ErrFormat, len(fields), want)
	}
	var r Row
	for i, to := range []*uint64{&r.Gen, &r.Evaluations, &r.Steps} {
		n, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			return r, fmt.Errorf("%w: %.30q is no number", ErrFormat, fields[i])
		}
		*to = n
	}
	var reals [4]*float64
	for i, field := range fields[3:] {
		if field == "" {
			continue
		}
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || x-x != 0 {
			return r, fmt.Errorf("%w: %.30q is no number", ErrFormat, field)
		}
		reals[i] = &x
	}
	if reals[1] == nil || reals[2] == nil {
		return r, fmt.Errorf("%w: no fitness", ErrFormat)
	}
	r.Seconds, r.Best, r.Mean, r.Return = reals[0], *reals[1], *reals[2], reals[3]
	return r, nil
}
