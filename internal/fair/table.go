package fair

import "iter"

// Table maps keys to values, each of which some source brought and costs something: 1, or its bytes. When all values
// together would cost more than the limit, the source whose values cost most loses its oldest one. So a source that
// uses no more than the limit divided by the number of sources never loses anything to others, and a table that is
// full still takes what is new. With [Table.KeepOldest] it loses its newest one instead.
type Table[K, S comparable, V any] struct {
	limit, used uint64
	items       map[K]*item[K, S, V]
	sources     map[S]*source[K, S, V]
	most        heap[*source[K, S, V]]
	all         list[K, S, V]
	arrivals    uint64
	keepOldest  bool
}

// item is one value, in the order of arrival among all and among those of its source.
type item[K, S comparable, V any] struct {
	key     K
	value   V
	cost    uint64
	arrival uint64
	from    *source[K, S, V]
	links   [2]struct{ older, newer *item[K, S, V] } // among all, and in its source
}

type source[K, S comparable, V any] struct {
	name  S
	used  uint64
	items list[K, S, V]
	place int // in the heap
}

// list is in the order of arrival; which says by which of an item's links.
type list[K, S comparable, V any] struct {
	which          int
	oldest, newest *item[K, S, V]
	size           int
}

func (l *list[K, S, V]) add(i *item[K, S, V]) {
	i.links[l.which].older, i.links[l.which].newer = l.newest, nil
	if l.newest == nil {
		l.oldest = i
	} else {
		l.newest.links[l.which].newer = i
	}
	l.newest = i
	l.size++
}

func (l *list[K, S, V]) remove(i *item[K, S, V]) {
	older, newer := i.links[l.which].older, i.links[l.which].newer
	if older == nil {
		l.oldest = newer
	} else {
		older.links[l.which].newer = newer
	}
	if newer == nil {
		l.newest = older
	} else {
		newer.links[l.which].older = older
	}
	l.size--
}

// Lost is a value that had to make room.
type Lost[K, S comparable, V any] struct {
	Key    K
	Source S
	Value  V
}

// NewTable makes a table of values that cost at most limit together.
func NewTable[K, S comparable, V any](limit uint64) *Table[K, S, V] {
	t := &Table[K, S, V]{limit: limit, items: make(map[K]*item[K, S, V]), sources: make(map[S]*source[K, S, V])}
	t.most.moved = func(s *source[K, S, V], place int) { s.place = place }
	t.most.before = func(a, b *source[K, S, V]) bool {
		if a.used != b.used {
			return a.used > b.used
		}
		if t.keepOldest {
			return a.items.newest.arrival > b.items.newest.arrival
		}
		return a.items.oldest.arrival < b.items.oldest.arrival
	}
	return t
}

// KeepOldest makes sources lose their newest values: for work that was begun in the order of arrival.
func (t *Table[K, S, V]) KeepOldest() *Table[K, S, V] {
	t.keepOldest = true
	return t
}

// Put sets the value of a key, as the newest one, in place of an earlier value and source of that key. It returns what
// was lost to make room: that may be the new value itself, if it alone makes its source the one that uses most. Of
// sources that use as much the one with the oldest value loses; the one with the newest, if the table keeps the oldest.
func (t *Table[K, S, V]) Put(key K, from S, cost uint64, value V) (lost []Lost[K, S, V]) {
	t.Delete(key)
	if cost > t.limit {
		return []Lost[K, S, V]{{key, from, value}}
	}
	s := t.sources[from]
	if s == nil {
		s = &source[K, S, V]{name: from}
		s.items.which = 1
		t.sources[from] = s
	}
	t.arrivals++
	i := &item[K, S, V]{key: key, value: value, cost: cost, arrival: t.arrivals, from: s}
	t.items[key] = i
	t.all.add(i)
	s.items.add(i)
	t.used += cost
	s.used += cost
	if s.items.size == 1 {
		t.most.push(s)
	} else {
		t.most.fix(s.place)
	}
	for t.used > t.limit {
		loser := t.most.list[0].items.oldest
		if t.keepOldest {
			loser = t.most.list[0].items.newest
		}
		lost = append(lost, Lost[K, S, V]{loser.key, loser.from.name, loser.value})
		t.remove(loser)
	}
	return lost
}

func (t *Table[K, S, V]) remove(i *item[K, S, V]) {
	s := i.from
	delete(t.items, i.key)
	t.all.remove(i)
	t.used -= i.cost
	if s.items.size == 1 {
		t.most.remove(s.place)
		delete(t.sources, s.name)
		return
	}
	s.items.remove(i)
	s.used -= i.cost
	t.most.fix(s.place)
}

// Get returns the value of a key.
func (t *Table[K, S, V]) Get(key K) (value V, ok bool) {
	i, ok := t.items[key]
	if ok {
		value = i.value
	}
	return value, ok
}

// Has reports whether a key has a value.
func (t *Table[K, S, V]) Has(key K) bool { return t.items[key] != nil }

// Source returns who brought the value of a key.
func (t *Table[K, S, V]) Source(key K) (from S, ok bool) {
	i, ok := t.items[key]
	if ok {
		from = i.from.name
	}
	return from, ok
}

// Delete removes a key, if it is there.
func (t *Table[K, S, V]) Delete(key K) {
	if i := t.items[key]; i != nil {
		t.remove(i)
	}
}

// Drop removes all that a source brought.
func (t *Table[K, S, V]) Drop(from S) {
	for s := t.sources[from]; s != nil && t.sources[from] == s; {
		t.remove(s.items.oldest)
	}
}

// Len is the number of values.
func (t *Table[K, S, V]) Len() int { return t.all.size }

// Used is what all values cost.
func (t *Table[K, S, V]) Used() uint64 { return t.used }

// UsedBy is what the values of a source cost.
func (t *Table[K, S, V]) UsedBy(from S) uint64 {
	if s := t.sources[from]; s != nil {
		return s.used
	}
	return 0
}

// Sources is the number of sources that have values.
func (t *Table[K, S, V]) Sources() int { return len(t.sources) }

// Room is how many values of cost 1 a source may put without losing any: what is left of its share, or its part of
// what is free if that is more.
func (t *Table[K, S, V]) Room(from S) uint64 {
	sources := uint64(len(t.sources))
	if t.sources[from] == nil {
		sources++
	}
	used, free := t.UsedBy(from), t.limit-t.used
	return max(t.limit/sources-min(t.limit/sources, used), free/sources)
}

// Oldest returns the oldest value of all.
func (t *Table[K, S, V]) Oldest() (key K, value V, ok bool) {
	if i := t.all.oldest; i != nil {
		return i.key, i.value, true
	}
	return key, value, false
}

// All walks the values, oldest first. The one at which the walk is may be deleted.
func (t *Table[K, S, V]) All() iter.Seq2[K, V] { return t.all.walk }

// Of walks the values of a source, oldest first. The one at which the walk is may be deleted.
func (t *Table[K, S, V]) Of(from S) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if s := t.sources[from]; s != nil {
			s.items.walk(yield)
		}
	}
}

func (l *list[K, S, V]) walk(yield func(K, V) bool) {
	for i := l.oldest; i != nil; {
		newer := i.links[l.which].newer
		if !yield(i.key, i.value) {
			return
		}
		i = newer
	}
}
