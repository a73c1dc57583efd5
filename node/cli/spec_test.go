package cli

import (
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

func TestParseUntil(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  peer.Until
		fails bool
	}{
		{"solved", peer.Until{Solved: true}, false},
		{"evals=1000", peer.Until{Evaluations: 1000}, false},
		{"1m30s", peer.Until{Duration: 90 * time.Second}, false},
		{"solved, 10m,evals=5", peer.Until{Solved: true, Evaluations: 5, Duration: 10 * time.Minute}, false},
		{"steps=7", peer.Until{Steps: 7}, false},
		{"", peer.Until{}, true},
		{"steps=-1", peer.Until{}, true},
		{"gens=3", peer.Until{}, true},
		{"evals=0", peer.Until{}, true},
		{"evals=x", peer.Until{}, true},
		{"-3s", peer.Until{}, true},
		{"solved,", peer.Until{}, true},
		{"never", peer.Until{}, true},
	} {
		got, err := parseUntil(c.text)
		if (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("parseUntil(%q) = %+v, %v, want %+v, failure: %t", c.text, got, err, c.want, c.fails)
		}
		if err == nil {
			if again, err := parseUntil(untilText(got)); err != nil || again != got {
				t.Errorf("untilText gives %q, read as %+v, %v, want %+v", untilText(got), again, err, got)
			}
		}
	}
}

func TestParamValue(t *testing.T) {
	for _, c := range []struct {
		text string
		want any
	}{{"0.5", 0.5}, {"-0", 0.0}, {"1e-3", 0.001}, {"cosine", "cosine"}, {"", ""}} {
		if got := paramValue(c.text); got != c.want {
			t.Errorf("paramValue(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}
