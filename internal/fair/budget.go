package fair

// Budget allows each source so much work per unit of time, and more at once after a pause. Time is a number that the
// caller counts in: ticks, milliseconds.
type Budget[S comparable] struct {
	rate, burst uint64
	spent       *Table[S, S, allowance]
}

// allowance is what a source has spent and not got back by a time.
type allowance struct{ spent, at uint64 }

// NewBudget allows each source rate per unit of time, and at most burst at once. It remembers at most so many sources;
// of more, those that paid longest ago count as if they had never spent.
func NewBudget[S comparable](rate, burst, sources uint64) *Budget[S] {
	return &Budget[S]{rate: rate, burst: burst, spent: NewTable[S, S, allowance](sources)}
}

// Left is how much a source may spend now.
func (b *Budget[S]) Left(now uint64, from S) uint64 { return b.burst - min(b.burst, b.owed(now, from)) }

// Charge takes cost, even if that is more than the source has left: for what is known only afterwards. Until so much
// has come back nothing is left.
func (b *Budget[S]) Charge(now uint64, from S, cost uint64) {
	b.spent.Put(from, from, 1, allowance{b.owed(now, from) + cost, now})
}

// owed is what a source spent and has not got back by now.
func (b *Budget[S]) owed(now uint64, from S) uint64 {
	a, ok := b.spent.Get(from)
	if !ok || now < a.at {
		return a.spent // the budget refills only while the clock advances
	}
	passed := now - a.at
	if b.rate > 0 && passed > a.spent/b.rate {
		return 0
	}
	return a.spent - passed*b.rate
}

// Take spends cost, if the source has so much left. What costs more than a burst needs a full budget, and spends it.
func (b *Budget[S]) Take(now uint64, from S, cost uint64) bool {
	owed := b.owed(now, from)
	cost = min(cost, b.burst)
	if owed+cost > b.burst {
		return false
	}
	b.spent.Put(from, from, 1, allowance{owed + cost, now})
	return true
}
