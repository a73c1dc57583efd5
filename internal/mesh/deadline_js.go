package mesh

import (
	"sync"
	"time"
)

// deadlines bound the reads and writes of a stream.
type deadlines struct{ readBy, writeBy deadline }

// SetDeadline bounds reads and writes.
func (d *deadlines) SetDeadline(at time.Time) error {
	d.readBy.set(at)
	d.writeBy.set(at)
	return nil
}

// SetReadDeadline bounds reads.
func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.readBy.set(at)
	return nil
}

// SetWriteDeadline bounds writes.
func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.writeBy.set(at)
	return nil
}

// deadline is a time that may be set again, after which those that wait give up.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{}
}

// passed is closed once the deadline has passed.
func (d *deadline) passed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over == nil {
		d.over = make(chan struct{})
	}
	return d.over
}

// set sets the deadline; the zero time is never.
func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() || d.over == nil {
		d.over = nil
	}
	d.timer = nil
	if d.over == nil {
		d.over = make(chan struct{})
	}
	if at.IsZero() {
		return
	}
	over := d.over
	d.timer = time.AfterFunc(time.Until(at), func() { close(over) })
}
