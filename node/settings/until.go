package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ParseUntil reads --until: solved, evals=N, steps=N, a duration, or several of them with commas: the first
// that comes true ends the run.
func ParseUntil(text string) (solo.Until, error) {
	var u solo.Until
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "solved" {
			u.Solved = true
			continue
		}
		if name, n, ok := strings.Cut(part, "="); ok {
			v, err := strconv.ParseUint(n, 10, 64)
			if err != nil || v == 0 || name != "evals" && name != "steps" {
				return u, verb.Misused(fmt.Sprintf("--until %q: %q is no number of evaluations or env-steps", text, part), "for example: --until evals=100000, or steps=5000000")
			}
			if name == "evals" {
				u.Evaluations = v
			} else {
				u.Steps = v
			}
			continue
		}
		d, err := time.ParseDuration(part)
		if err != nil || d <= 0 {
			return u, verb.Misused(fmt.Sprintf("--until %q", text), "solved, evals=N, steps=N, or a time such as 10m; several with commas end at the first")
		}
		u.Duration = d
	}
	return u, nil
}

// ParseEnd reads --until of a swarm's run: solved, evals=N, steps=N, entries=N, several with commas, or never, which is
// nil. A run that many work on knows no time of day.
func ParseEnd(text string) (*seedlog.Until, error) {
	if text == "never" {
		return nil, nil
	}
	u := new(seedlog.Until)
	counts := map[string]*uint64{"evals": &u.Evaluations, "steps": &u.Steps, "entries": &u.Entries}
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "solved" {
			u.Solved = true
			continue
		}
		name, n, _ := strings.Cut(part, "=")
		count := counts[name]
		if count == nil {
			return nil, verb.Misused(fmt.Sprintf("--until %q", text), "solved, evals=N, steps=N, entries=N, several with commas, or never")
		}
		v, err := strconv.ParseUint(n, 10, 64)
		if err != nil || v == 0 {
			return nil, verb.Misused(fmt.Sprintf("--until %q: %q is no count", text, part), "for example: --until solved,evals=1000000")
		}
		*count = v
	}
	return u, nil
}

// UntilText is what ParseUntil reads as u.
func UntilText(u solo.Until) string {
	var parts []string
	if u.Solved {
		parts = append(parts, "solved")
	}
	if u.Evaluations > 0 {
		parts = append(parts, fmt.Sprintf("evals=%d", u.Evaluations))
	}
	if u.Steps > 0 {
		parts = append(parts, fmt.Sprintf("steps=%d", u.Steps))
	}
	if u.Duration > 0 {
		parts = append(parts, u.Duration.String())
	}
	return strings.Join(parts, ",")
}
