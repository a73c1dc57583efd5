package fair

// heap keeps the element that is before all others at its front. Elements learn their places, so that one that has
// changed is moved alone.
type heap[E any] struct {
	list   []E
	before func(a, b E) bool
	moved  func(e E, place int)
}

func (h *heap[E]) push(e E) {
	h.list = append(h.list, e)
	h.up(len(h.list) - 1)
}

// remove takes out the element at a place.
func (h *heap[E]) remove(place int) {
	last := len(h.list) - 1
	e := h.list[last]
	var none E
	h.list[last] = none
	h.list = h.list[:last]
	if place < last {
		h.list[place] = e
		h.fix(place)
	}
}

// fix moves the element at a place to where it belongs.
func (h *heap[E]) fix(place int) { h.down(h.up(place)) }

func (h *heap[E]) up(place int) int {
	e := h.list[place]
	for place > 0 {
		above := (place - 1) / 2
		if !h.before(e, h.list[above]) {
			break
		}
		h.put(place, h.list[above])
		place = above
	}
	h.put(place, e)
	return place
}

func (h *heap[E]) down(place int) {
	e := h.list[place]
	for {
		below := 2*place + 1
		if below >= len(h.list) {
			break
		}
		if below+1 < len(h.list) && h.before(h.list[below+1], h.list[below]) {
			below++
		}
		if !h.before(h.list[below], e) {
			break
		}
		h.put(place, h.list[below])
		place = below
	}
	h.put(place, e)
}

func (h *heap[E]) put(place int, e E) {
	h.list[place] = e
	h.moved(e, place)
}
