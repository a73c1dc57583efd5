package httpd

import (
	"slices"
	"sync"
	"time"
)

// advisor sends newcomers without a choice to the run that needs peers most: of those that train, the one with the
// fewest, of equal ones the first. Who was sent there a moment ago counts, too: a class that opens the page at once is
// spread. Others' word counts peers and anybody may ask, so strangers can make a run look well attended: that decides
// where newcomers without a choice go, and nothing else.
type advisor struct {
	mu   sync.Mutex
	sent []sent // oldest first
}

// sent is a newcomer who was sent to a run.
type sent struct {
	run string
	at  time.Time
}

const (
	// arriving is how long a newcomer may take until the run counts him.
	arriving = 20 * time.Second
	// maxSent bounds how many are counted.
	maxSent = 1000
)

// advise is the place of the run in a list that is not empty. Where none trains it is the first that is there.
func (a *advisor) advise(all []Status, now time.Time, newcomer bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = slices.DeleteFunc(a.sent, func(s sent) bool { return now.Sub(s.at) >= arriving })
	onTheWay := map[string]int{}
	for _, s := range a.sent {
		onTheWay[s.run]++
	}
	best := -1
	for i, s := range all {
		if s.Run != "" && !s.Ended && s.Error == "" && (best < 0 || s.Peers+onTheWay[s.Run] < all[best].Peers+onTheWay[all[best].Run]) {
			best = i
		}
	}
	if best < 0 {
		return max(slices.IndexFunc(all, func(s Status) bool { return s.Run != "" }), 0)
	}
	if newcomer && len(all) > 1 {
		a.sent = append(a.sent[max(len(a.sent)-maxSent+1, 0):], sent{all[best].Run, now})
	}
	return best
}
