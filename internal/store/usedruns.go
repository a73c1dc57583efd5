package store

import "slices"

// usedRuns lists the runs that a browser keeps, the one that is used now first, then by their last use, at last those
// whose use was not noted.
func usedRuns(used, kept []string, now string) []string {
	all := []string{now}
	for _, run := range slices.Concat(used, kept) {
		if slices.Contains(kept, run) && !slices.Contains(all, run) {
			all = append(all, run)
		}
	}
	return all
}
