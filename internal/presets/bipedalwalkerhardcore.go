package presets

import "slices"

// Nobody has solved the hardcore walker with these presets (docs/bench/learn.md says what was run): they are
// BipedalWalker's, with two episodes per candidate, since its ground differs more from episode to episode.
func init() {
	rows := slices.Clone(walking)
	for i := range rows {
		rows[i].episodes, rows[i].trials = 2, notTried
	}
	add("BipedalWalkerHardcore-v3", walker(10), rows)
}
