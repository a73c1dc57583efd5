// Package nearest finds the names that a mistyped word may have meant.
//
// Floor 0, numbers: floors 0 to 6 import it.
package nearest

import (
	"slices"
	"sort"
	"strings"
)

// Names returns up to three of names that word may have meant, best first: those that agree in more than half
// of their letters, ignoring case, those that begin with word, and those of several words with a hyphen of which it is
// one. It returns none if nothing is near.
func Names(word string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	word = strings.ToLower(word)
	for _, n := range names {
		name := strings.ToLower(n)
		d := editDistance(word, name)
		switch {
		case len(word) > 1 && strings.HasPrefix(name, word):
			d = 0
		case slices.Contains(strings.Split(name, "-"), word):
			d = min(d, 1)
		}
		if 2*d < max(len(n), len(word)) {
			near = append(near, candidate{n, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var out []string
	for i := 0; i < len(near) && i < 3; i++ {
		out = append(out, near[i].name)
	}
	return out
}

// editDistance counts the single byte insertions, deletions, replacements and swaps of neighbors that turn a into b.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
