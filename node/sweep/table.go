package sweep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrTable is returned for a file that is not the table of a sweep.
var ErrTable = errors.New("sweep: bad table")

// MaxTableBytes bounds a table that is read.
const MaxTableBytes = 64 << 20

// columns are those of a CSV table, in order.
var columns = []string{
	"env", "strategy", "seed", "done", "solved", "gens", "evaluations", "steps", "seconds", "return", "tests",
	"evaluation_steps", "until", "resumed", "run", "head", "theta", "log",
}

// needed are the columns that a table must have, whichever program wrote it.
var needed = []string{"seed", "solved", "steps", "seconds"}

// Known reports whether the name is that of a table: it ends in .csv or .json.
func Known(name string) bool {
	return slices.Contains([]string{".csv", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// Write writes rows to the named file, all of it or nothing: as JSON ({"summary": ..., "runs": [...]}) if the
// name ends in .json, else as CSV with a header line. Infinite values are null in JSON.
func Write(name string, rows []Row) error {
	var b bytes.Buffer
	if strings.EqualFold(filepath.Ext(name), ".json") {
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		if err := e.Encode(document{Summarize(rows), rows}); err != nil {
			return err
		}
	} else if err := writeCSV(&b, rows); err != nil {
		return err
	}
	return replaceFile(name, b.Bytes())
}

// document is a table as JSON.
type document struct {
	Summary Summary `json:"summary"`
	Runs    []Row   `json:"runs"`
}

// replaceFile replaces the content of the named file.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func writeCSV(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i := range rows {
		if err := c.Write(record(&rows[i])); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// record returns the cells of r, in the order of columns.
func record(r *Row) []string {
	ret := ""
	if r.Return != nil {
		ret = strconv.FormatFloat(*r.Return, 'g', -1, 64)
	}
	return []string{
		r.Env, r.Strategy, strconv.FormatUint(r.Seed, 10), strconv.FormatBool(r.Done), strconv.FormatBool(r.Solved),
		strconv.FormatUint(r.Gens, 10), strconv.FormatUint(r.Evaluations, 10), strconv.FormatUint(r.Steps, 10),
		strconv.FormatFloat(r.Seconds, 'g', -1, 64), ret, strconv.Itoa(r.Tests), strconv.FormatUint(r.EvaluationSteps, 10),
		r.Until, strconv.FormatBool(r.Resumed), r.Run, r.Head, r.Theta, r.Log,
	}
}

// IsTable reports whether a file that begins like this is a table of a sweep: JSON, or CSV with the columns of one.
func IsTable(start []byte) bool {
	if bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) {
		return true
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	names := strings.Split(strings.ToLower(strings.TrimSpace(string(line))), ",")
	return !slices.ContainsFunc(needed, func(name string) bool { return !slices.Contains(names, name) })
}

// Read returns the rows of a table that Write wrote, or of a CSV file of another program with at least the
// columns seed, solved, steps and seconds. Rows are in the order of the file. Errors wrap ErrTable, or are
// those of the file.
func Read(name string) ([]Row, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	rows, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, name, err)
	}
	return rows, nil
}

// readFile returns what is in the named file, unless that is more than MaxTableBytes.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxTableBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > MaxTableBytes {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrTable, name, MaxTableBytes)
	}
	return data, nil
}

// decode reads a table of either form.
func decode(data []byte) ([]Row, error) {
	rows, err := []Row(nil), error(nil)
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		rows, err = readJSON(data)
	} else {
		rows, err = readCSV(data)
	}
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("no runs")
	}
	seen := map[uint64]bool{}
	for _, r := range rows {
		if !finite(r.Seconds) || r.Seconds < 0 {
			return nil, fmt.Errorf("seed %d took %v seconds", r.Seed, r.Seconds)
		}
		if seen[r.Seed] {
			return nil, fmt.Errorf("there are two runs of seed %d", r.Seed)
		}
		seen[r.Seed] = true
	}
	return rows, nil
}

func readJSON(data []byte) ([]Row, error) {
	var doc struct {
		Runs []Row `json:"runs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	return doc.Runs, nil
}

func readCSV(data []byte) ([]Row, error) {
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("it is empty")
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, name := range needed {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("no column %q; it has %q", name, lines[0])
		}
	}
	var rows []Row
	for n, line := range lines[1:] {
		p := cells{line: line, column: column}
		row := p.row()
		if p.err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, p.err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// cells parses the values of a line of a CSV table, and keeps the first error.
type cells struct {
	line   []string
	column map[string]int
	err    error
}

// row reads the line.
func (c *cells) row() Row {
	r := Row{
		Env: c.text("env"), Strategy: c.text("strategy"), Seed: c.count("seed"), Done: c.truth("done", true),
		Solved: c.truth("solved", false), Gens: c.count("gens"), Evaluations: c.count("evaluations"),
		Steps: c.count("steps"), Tests: int(min(c.count("tests"), 1<<31-1)), EvaluationSteps: c.count("evaluation_steps"),
		Until: c.text("until"), Resumed: c.truth("resumed", false), Log: c.text("log"), Run: c.text("run"),
		Head: c.text("head"), Theta: c.text("theta"),
	}
	r.Seconds, _ = c.real("seconds")
	if x, ok := c.real("return"); ok {
		r.Return = &x
	}
	return r
}

// text returns the cell of a column, "" if there is none.
func (c *cells) text(name string) string {
	i, ok := c.column[name]
	if !ok {
		return ""
	}
	return strings.TrimSpace(c.line[i])
}

func (c *cells) count(name string) uint64 {
	t := c.text(name)
	if t == "" && !slices.Contains(needed, name) {
		return 0
	}
	n, err := strconv.ParseUint(t, 10, 64)
	c.note(name, t, err)
	return n
}

func (c *cells) real(name string) (float64, bool) {
	t := c.text(name)
	if t == "" && !slices.Contains(needed, name) {
		return 0, false
	}
	x, err := strconv.ParseFloat(t, 64)
	if err == nil && !finite(x) {
		err = errors.New("not finite")
	}
	c.note(name, t, err)
	return x, true
}

func (c *cells) truth(name string, missing bool) bool {
	t := c.text(name)
	if t == "" && !slices.Contains(needed, name) {
		return missing
	}
	b, err := strconv.ParseBool(strings.ToLower(t))
	c.note(name, t, err)
	return b
}

// note keeps the first error.
func (c *cells) note(name, text string, err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s is %.60q: %w", name, text, err)
	}
}
