// Package maps walks maps.
package maps

import (
	"maps"
	"slices"
	"sort"
)

// Bad walks in random order.
func Bad(m map[string]int) (sum int, keys []string) {
	for _, v := range m { // want: map
		sum += v
	}
	for k := range m { // want: map
		keys = append(keys, k)
	}
	sum++
	sort.Strings(keys)
	for k := range m { // want: map
		keys = append(keys, k)
		sum++
	}
	sort.Strings(keys)
	//lint:sorted
	for range m { // want: map
		sum++
	}
	for v := range maps.Values(m) { // want: map
		sum += v
	}
	return sum, slices.Collect(maps.Keys(m)) // want: map
}

type set map[int]bool

// Good sorts, or says why not.
func Good(m map[string]int, s set) (sum int, keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for k := range m {
		if k != "" {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return len(a) - len(b) })
	//lint:sorted a sum of integers has no order
	for _, v := range m {
		sum += v
	}
	for range s { //lint:sorted counts
		sum++
	}
	return sum, slices.Sorted(maps.Keys(m))
}
