package train

import (
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/verb"
)

// The return and the goal come first, whole; the time left only where there is a limit.
func TestProgress(t *testing.T) {
	begin := time.Unix(1000, 0)
	value := 212.44
	for _, c := range []struct {
		until solo.Until
		want  string
	}{
		{solo.Until{Solved: true}, "return 212.4 (goal 475)  50.0 evals/s  25.0k env-steps/s  generation 20  best 500.0  mean 120.2"},
		{solo.Until{Evaluations: 2000}, "return 212.4 (goal 475)  50.0 evals/s  25.0k env-steps/s  ETA 20s  generation 20  best 500.0  mean 120.2"},
		{solo.Until{Solved: true, Steps: 3_000_000, Duration: time.Hour}, "return 212.4 (goal 475)  50.0 evals/s  25.0k env-steps/s  at most 1m40s  generation 20  best 500.0  mean 120.2"},
		{solo.Until{Duration: 50 * time.Second}, "return 212.4 (goal 475)  50.0 evals/s  25.0k env-steps/s  ETA 30s  generation 20  best 500.0  mean 120.2"},
	} {
		p := progress{line: (&verb.IO{Err: new(strings.Builder)}).Line(true), until: c.until, goal: 475, begin: begin}
		var g solo.Progress
		for i := range uint64(20) {
			g = solo.Progress{Gen: i + 1, Evaluations: 50 * (i + 1), Steps: 25_000 * (i + 1), Best: 500, Mean: 120.25}
			if i == 10 {
				g.Return = &value
			}
			p.show(begin.Add(time.Duration(i+1)*time.Second), g)
		}
		var texts []string
		for _, i := range p.items(begin.Add(20*time.Second), g) {
			texts = append(texts, i.Text)
		}
		if got := strings.Join(texts, "  "); got != c.want {
			t.Errorf("until %+v: %q, want %q", c.until, got, c.want)
		}
	}
}

// On a terminal of 80 columns the return is there whole, and so is everything else that is there.
func TestProgressOnNarrowTerminal(t *testing.T) {
	var out strings.Builder
	s := &verb.IO{Err: &out, Terminal: true}
	p := progress{line: s.Line(false), until: solo.Until{Evaluations: 1e9}, goal: 90, begin: time.Now()}
	value := 93.75
	for i := range uint64(3) {
		p.show(time.Now().Add(time.Duration(i)*time.Second), solo.Progress{Gen: 123456 + i, Evaluations: 987654321, Steps: 98765432109 + 1e6*i, Return: &value, Best: -1234.5, Mean: -5678.9})
	}
	lines := strings.Split(out.String(), "\r")
	if got, want := strings.TrimRight(lines[len(lines)-1], " "), "return 93.8 (goal 90)  0.0 evals/s  1.0M env-steps/s  generation 123458"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}
