package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Refusal is a construct that the translator cannot keep.
type Refusal struct {
	File string // relative to the module, or absolute if it lies elsewhere
	Line int
	What string // the construct, and why
}

func (r Refusal) Error() string { return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.What) }

// Refusals are all that was found, by file and line.
type Refusals []Refusal

func (r Refusals) Error() string {
	lines := make([]string, len(r))
	for i := range r {
		lines[i] = r[i].Error()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the refusals in order, without repetitions.
func (r Refusals) sorted() Refusals {
	slices.SortStableFunc(r, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(r)
}

// err returns nil for no refusal.
func (r Refusals) err() error {
	if len(r) == 0 {
		return nil
	}
	return r.sorted()
}
