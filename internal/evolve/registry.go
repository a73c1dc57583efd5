package evolve

import (
	"fmt"
	"sort"
	"strings"
)

// Methods returns all methods sorted by name. The slice is the caller's.
func Methods() []Method { return []Method{disesMethod(), openaiMethod()} }

// Find returns the method with that name, without regard to case. The error for an
// unknown name wraps ErrMethod and names the right ones, nearest first.
func Find(name string) (Method, error) {
	want := strings.ToLower(strings.TrimSpace(name))
	methods := Methods()
	for _, m := range methods {
		if m.Name == want {
			return m, nil
		}
	}
	sort.SliceStable(methods, func(i, j int) bool {
		return distance(want, methods[i].Name) < distance(want, methods[j].Name)
	})
	var names []string
	for i := 0; i < len(methods) && i < 3; i++ {
		names = append(names, methods[i].Name)
	}
	return Method{}, fmt.Errorf("%w %q; nearest: %s", ErrMethod, name, strings.Join(names, ", "))
}

// distance is the number of single byte insertions, deletions and replacements
// that turn a into b (Levenshtein), and 0 if a begins b.
func distance(a, b string) int {
	if a != "" && strings.HasPrefix(b, a) {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
