package nearest

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	names := []string{"train", "replay", "eval", "status", "resume", "stop", "alive-bonus", "bins"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"trian", []string{"train"}},
		{"REPLAY", []string{"replay"}},
		{"re", []string{"replay", "resume"}},
		{"evla", []string{"eval"}},
		{"stpo", []string{"stop"}},
		{"bonus", []string{"alive-bonus", "bins"}},
		{"x", nil},
		{"", nil},
		{"configuration", nil},
	} {
		if got := Names(c.word, names); !slices.Equal(got, c.want) {
			t.Errorf("Names(%q) = %v, want %v", c.word, got, c.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1}, {"kitten", "sitting", 3},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
