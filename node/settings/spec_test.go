package settings

import (
	"reflect"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
)

func TestParseUntil(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  solo.Until
		fails bool
	}{
		{"solved", solo.Until{Solved: true}, false},
		{"evals=1000", solo.Until{Evaluations: 1000}, false},
		{"1m30s", solo.Until{Duration: 90 * time.Second}, false},
		{"solved, 10m,evals=5", solo.Until{Solved: true, Evaluations: 5, Duration: 10 * time.Minute}, false},
		{"steps=7", solo.Until{Steps: 7}, false},
		{"", solo.Until{}, true},
		{"steps=-1", solo.Until{}, true},
		{"gens=3", solo.Until{}, true},
		{"evals=0", solo.Until{}, true},
		{"evals=x", solo.Until{}, true},
		{"-3s", solo.Until{}, true},
		{"solved,", solo.Until{}, true},
		{"never", solo.Until{}, true},
	} {
		got, err := ParseUntil(c.text)
		if (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("ParseUntil(%q) = %+v, %v, want %+v, failure: %t", c.text, got, err, c.want, c.fails)
		}
		if err == nil {
			if again, err := ParseUntil(UntilText(got)); err != nil || again != got {
				t.Errorf("UntilText gives %q, read as %+v, %v, want %+v", UntilText(got), again, err, got)
			}
		}
	}
}

func TestParseEnd(t *testing.T) {
	for text, want := range map[string]*seedlog.Until{
		"solved":                            {Solved: true},
		"evals=1000":                        {Evaluations: 1000},
		"steps=7, entries=3,solved,evals=5": {Solved: true, Evaluations: 5, Steps: 7, Entries: 3},
		"never":                             nil,
	} {
		if got, err := ParseEnd(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseEnd(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10m", "gens=3", "evals=0", "evals=x", "evals", "steps=-1", "solved,", "solved,never"} {
		if got, err := ParseEnd(text); err == nil {
			t.Errorf("ParseEnd(%q) = %+v, want an error", text, got)
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
