//go:build !js

package store

import (
	"slices"
	"testing"
)

// The run that was used longest ago comes last, and what is not kept any more does not count.
func TestUsedRuns(t *testing.T) {
	for _, test := range []struct{ used, kept, want []string }{
		{nil, nil, []string{"now"}},
		{[]string{"b", "now", "a"}, []string{"a", "b", "now"}, []string{"now", "b", "a"}},
		{[]string{"a", "gone"}, []string{"a"}, []string{"now", "a"}},
		{[]string{"a", "a"}, []string{"a", "unknown"}, []string{"now", "a", "unknown"}},
	} {
		if got := usedRuns(test.used, test.kept, "now"); !slices.Equal(got, test.want) {
			t.Errorf("%q of %q: got %q, want %q", test.used, test.kept, got, test.want)
		}
	}
}
