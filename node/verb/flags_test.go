package verb

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  string
		n     int
		json  bool
		rest  string
		fails bool
	}{
		{"a -n 3 b --json c", 3, true, "a b c", false},
		{"-n=3 -- --json", 3, false, "--json", false},
		{"a -- b -n 3", 0, false, "a b -n 3", false},
		{"-", 0, false, "-", false},
		{"", 0, false, "", false},
		{"a --m", 0, false, "", true},
		{"-n x", 0, false, "", true},
	} {
		fs, n, asJSON := NewFlags(), 0, false
		fs.Int(&n, "n", "N", "a number", 0)
		fs.JSON(&asJSON, "JSON")
		rest, err := fs.parse(strings.Fields(c.args))
		if (err != nil) != c.fails {
			t.Errorf("parse(%q) fails with %v, want failure: %t", c.args, err, c.fails)
		}
		if got := strings.Join(rest, " "); err == nil && (got != c.rest || n != c.n || asJSON != c.json) {
			t.Errorf("parse(%q) = %q, n %d, json %t, want %q, %d, %t", c.args, got, n, asJSON, c.rest, c.n, c.json)
		}
	}
}

// A choice takes its words alone, and completes to them.
func TestChoice(t *testing.T) {
	fs, profile := NewFlags(), "lan"
	fs.Choice(&profile, "profile", "lan|wan|moon", "how far")
	if _, err := fs.parse([]string{"--profile", "wan"}); err != nil || profile != "wan" {
		t.Errorf("--profile wan gives %q, %v", profile, err)
	}
	if _, err := fs.parse([]string{"--profile", "fast"}); err == nil || !strings.Contains(err.Error(), "want lan, wan or moon") || profile != "wan" {
		t.Errorf("--profile fast gives %q, %v", profile, err)
	}
}

// --workers means the same in every verb.
func TestWorkers(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3": 3, "-3": -1, "x": -1, "": -1} {
		fs, n := NewFlags(), 7
		fs.Workers(&n, "cores")
		if _, err := fs.parse([]string{"--workers=" + text}); (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("--workers=%s gives %d, %v, want %d", text, n, err, want)
		} else if err != nil && !strings.Contains(err.Error(), "0 for all") {
			t.Errorf("--workers=%s does not say what is allowed: %v", text, err)
		}
	}
}
