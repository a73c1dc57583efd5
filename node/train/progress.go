package train

import (
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/verb"
)

// progress shows a run as it trains.
type progress struct {
	line  *verb.Line
	until solo.Until
	goal  float64
	begin time.Time
	last  *float64 // newest return of the mean policy
	seen  []sample // of the last rateWindow, and one before it
}

// sample is how far a run was.
type sample struct {
	at                 time.Time
	evaluations, steps uint64
}

// rateWindow is the time over which rates are taken.
const rateWindow = 10 * time.Second

// show shows a generation.
func (p *progress) show(now time.Time, g solo.Progress) {
	p.seen = append(p.seen, sample{now, g.Evaluations, g.Steps})
	for len(p.seen) > 2 && now.Sub(p.seen[1].at) >= rateWindow {
		p.seen = p.seen[1:]
	}
	if g.Return == nil {
		p.line.Show(now, p.items(now, g)...)
		return
	}
	p.last = g.Return
	p.line.Mark(now, p.items(now, g)...)
}

// items says how far the run is. What counts most comes first, since a narrow terminal has no room for the rest.
func (p *progress) items(now time.Time, g solo.Progress) []verb.Item {
	items := []verb.Item{verb.Return(p.last, &p.goal)}
	evaluations, steps, known := p.rates()
	if known {
		items = append(items, verb.Items(verb.Amount(evaluations)+" evals/s", verb.Amount(steps)+" env-steps/s")...)
		if left, ok := p.left(now, g, evaluations, steps); ok {
			label := "ETA "
			if p.until.Solved {
				label = "at most "
			}
			items = append(items, verb.Item{Text: label + left.Round(time.Second).String()})
		}
	}
	return append(items, verb.Items(fmt.Sprintf("generation %d", g.Gen), fmt.Sprintf("best %.1f", g.Best), fmt.Sprintf("mean %.1f", g.Mean))...)
}

// rates are evaluations and env-steps per second, once they can be known.
func (p *progress) rates() (evaluations, steps float64, known bool) {
	first, last := p.seen[0], p.seen[len(p.seen)-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds < 0.5 {
		return 0, 0, false
	}
	return float64(last.evaluations-first.evaluations) / seconds, float64(last.steps-first.steps) / seconds, true
}

// left is the time until the first of the limits, if there is one.
func (p *progress) left(now time.Time, g solo.Progress, evaluations, steps float64) (left time.Duration, ok bool) {
	limit := func(seconds float64) {
		if d := time.Duration(max(seconds, 0) * float64(time.Second)); !ok || d < left {
			left, ok = d, true
		}
	}
	if p.until.Evaluations > 0 && evaluations > 0 {
		limit((float64(p.until.Evaluations) - float64(g.Evaluations)) / evaluations)
	}
	if p.until.Steps > 0 && steps > 0 {
		limit((float64(p.until.Steps) - float64(g.Steps)) / steps)
	}
	if p.until.Duration > 0 {
		limit((p.until.Duration - now.Sub(p.begin)).Seconds())
	}
	return left, ok
}
