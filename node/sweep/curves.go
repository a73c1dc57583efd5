package sweep

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Point is a held-out evaluation of the mean policy during training.
type Point struct {
	Steps  uint64  // env-steps of training so far
	Return float64 // mean return
}

// Curves holds the learning curve of each seed, its points in ascending order of env-steps.
type Curves map[uint64][]Point

// maxPoints bounds the points that are kept of a learning curve.
const maxPoints = 1000

// Add appends a point to the curve of a seed, unless it has got that far before. A curve that grows too long
// loses every other point.
func (c Curves) Add(seed uint64, p Point) {
	all := c[seed]
	if len(all) > 0 && all[len(all)-1].Steps >= p.Steps {
		return
	}
	all = append(all, p)
	if len(all) > maxPoints {
		kept := all[:0]
		for i := range all {
			if i%2 == len(all)%2^1 { // the last one stays
				kept = append(kept, all[i])
			}
		}
		all = kept
	}
	c[seed] = all
}

// Of returns the curves of the rows' seeds.
func (c Curves) Of(rows []Row) Curves {
	some := Curves{}
	for _, r := range rows {
		if points := c[r.Seed]; len(points) > 0 {
			some[r.Seed] = points
		}
	}
	return some
}

// CurvesName is where the learning curves are kept of the table with the given file name.
func CurvesName(table string) string {
	return strings.TrimSuffix(table, filepath.Ext(table)) + ".curves.csv"
}

var curveColumns = []string{"seed", "steps", "return"}

// WriteCurves writes the learning curves to the named file, all of it or nothing.
func WriteCurves(name string, curves Curves) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(curveColumns) // errors are kept until Error
	for _, seed := range curves.seeds() {
		for _, p := range curves[seed] {
			w.Write([]string{strconv.FormatUint(seed, 10), strconv.FormatUint(p.Steps, 10), strconv.FormatFloat(p.Return, 'g', -1, 64)})
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return replaceFile(name, b.Bytes())
}

// ReadCurves returns the learning curves that WriteCurves wrote, and none if there is no such file. Errors wrap
// ErrTable, or are those of the file.
func ReadCurves(name string) (Curves, error) {
	data, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Curves{}, nil
	}
	if err != nil {
		return nil, err
	}
	curves, err := decodeCurves(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, name, err)
	}
	return curves, nil
}

func decodeCurves(data []byte) (Curves, error) {
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], curveColumns) {
		return nil, fmt.Errorf("the columns are not %q", curveColumns)
	}
	curves := Curves{}
	for i, line := range lines[1:] {
		seed, err1 := strconv.ParseUint(line[0], 10, 64)
		steps, err2 := strconv.ParseUint(line[1], 10, 64)
		ret, err3 := strconv.ParseFloat(line[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if !finite(ret) {
			return nil, fmt.Errorf("line %d: return is %v", i+2, ret)
		}
		if all := curves[seed]; len(all) > 0 && all[len(all)-1].Steps >= steps {
			return nil, fmt.Errorf("line %d: seed %d has %d env-steps after %d", i+2, seed, steps, all[len(all)-1].Steps)
		}
		curves.Add(seed, Point{steps, ret})
	}
	return curves, nil
}

// seeds returns those that have points, ascending.
func (c Curves) seeds() []uint64 {
	var all []uint64
	for seed, points := range c {
		if len(points) > 0 {
			all = append(all, seed)
		}
	}
	slices.Sort(all)
	return all
}

// At returns the return of a curve after x env-steps: between two points a straight line, after the last one its
// return, since a policy that is no longer trained stays as it is.
func At(points []Point, x float64) float64 {
	i, _ := slices.BinarySearchFunc(points, x, func(p Point, x float64) int {
		if float64(p.Steps) < x {
			return -1
		}
		return 1
	})
	switch {
	case i == 0:
		return points[0].Return
	case i == len(points):
		return points[i-1].Return
	}
	a, b := points[i-1], points[i]
	part := (x - float64(a.Steps)) / float64(b.Steps-a.Steps)
	return a.Return + part*(b.Return-a.Return)
}
