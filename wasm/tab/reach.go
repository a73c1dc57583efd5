package main

import "time"

// aloneAfter is how long a tab has no connection before it is said to be alone: one that is being opened, or whose node
// starts again, soon has one.
const aloneAfter = 4 * time.Second

// reach tells when a tab is alone: nobody was connected for a while, and a whole round of dialing found nobody.
type reach struct {
	since time.Time // when somebody was connected last, or the tab began
	alone bool
}

// found notes that somebody is connected, and reports whether the tab was alone until now.
func (r *reach) found(now time.Time) bool {
	was := r.alone
	r.since, r.alone = now, false
	return was
}

// missed notes a round that found nobody while nobody was connected, and reports whether the tab is alone from now on.
func (r *reach) missed(now time.Time) bool {
	was := r.alone
	r.alone = now.Sub(r.since) >= aloneAfter
	return r.alone && !was
}
