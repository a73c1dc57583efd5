package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

// A run may end, and a node that has something else to do then moves on: to the next run of its queue, or to another
// one that it finds where it joined. A node that has neither stays, and serves the log.

const (
	// lastWords is how long a node stays in a run that has ended before it begins the next one: others fetch its last
	// entry meanwhile.
	lastWords = 15 * time.Second
	// lookAround is how often a node whose run has ended asks where it joined what runs there.
	lookAround = 30 * time.Second
)

// live keeps a lane at work until the node stops: it waits for the end of the run, and begins what comes after it.
func (l *lane) live() {
	ctx, cancel := l.node.untilStop()
	defer cancel()
	if l.working() == nil && l.isDown() && !l.retry(ctx) {
		return
	}
	if l.working() == nil && !l.awaitPeer(ctx) {
		return
	}
	for l.working() != nil && l.awaitNext(ctx) {
		if !l.moveOn(ctx) {
			return
		}
	}
}

// untilStop is a context that ends when the node stops.
func (n *Node) untilStop() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-n.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// isDown reports whether the lane's run does not start.
func (l *lane) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

// awaitNext waits until the run has ended and there is something to do after it; false: the node stops.
func (l *lane) awaitNext(ctx context.Context) bool {
	for l.awaitEnd(ctx) {
		switch {
		case len(l.left()) > 1:
			if sleep(ctx, lastWords) && l.working().Status().Ended {
				return true
			}
		case sleep(ctx, lookAround):
			if l.elsewhere(ctx) {
				return true
			}
		}
	}
	return false
}

// moveOn leaves the run, and begins the next one; false: the node stops, or has failed.
func (l *lane) moveOn(ctx context.Context) bool {
	n := l.node
	why := l.working().Status().Why
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	err := l.close(closing)
	cancel()
	l.down(errMoving)
	l.advance()
	if err == nil {
		err = l.beginNext(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
	case len(n.lanes) == 1:
		n.failed <- err
		return false
	default:
		l.down(err)
		if !l.retry(ctx) {
			return false
		}
	}
	select {
	case n.moved <- why:
	case <-ctx.Done():
		return false
	}
	return true
}

// errMoving is why a lane has no run while it moves on: nothing is wrong with it.
var errMoving = errors.New("the next run begins")

// beginNext begins a run. Where the node joined may be moving on, too, so it tries again for a minute.
func (l *lane) beginNext(ctx context.Context) error {
	for begun := time.Now(); ; {
		targets, err := l.node.resolve(ctx)
		if err == nil || errors.Is(err, mesh.ErrUnreachable) && l.remembers() {
			err = l.begin(ctx, targets)
		}
		if !errors.Is(err, mesh.ErrUnreachable) || time.Since(begun) > time.Minute || !sleep(ctx, time.Second) {
			return err
		}
	}
}

// retryLane is how long a lane waits before it tries again to open its run.
const retryLane = time.Minute

// retry tries to open the lane's run until that works; false: the node stops.
func (l *lane) retry(ctx context.Context) bool {
	for sleep(ctx, retryLane) {
		err := l.begin(ctx, nil)
		if err == nil {
			l.node.tell(l.name() + " works again")
			return true
		}
		l.down(err)
	}
	return false
}

// tell has the owner read something.
func (n *Node) tell(text string) {
	select {
	case n.news <- text:
	default: // there is more than anybody reads
	}
}

// awaitEnd waits until the run has ended, and remembers that; false: the node ends.
func (l *lane) awaitEnd(ctx context.Context) bool {
	updates, end := l.working().Watch()
	defer end()
	for {
		select {
		case <-ctx.Done():
			return false
		case s, ok := <-updates:
			if !ok {
				return false
			}
			if s.Ended {
				l.node.rememberEnd(s.Run)
				return true
			}
		}
	}
}

// rememberEnd notes that a run has ended, so that a start continues with the one after it.
func (n *Node) rememberEnd(run string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.memory.ended(run) {
		return
	}
	n.memory.Ended = append(slices.Clone(n.memory.Ended), run)
	if err := n.memory.write(n.cfg.Data); err != nil {
		n.cfg.Logger.Warn("remembering that the run has ended", "error", err)
	}
}

// elsewhere reports whether a page or a node where this node joined names another run by now. A target with #RUN means
// that run alone.
func (l *lane) elsewhere(ctx context.Context) bool {
	own := l.runID()
	for _, text := range l.node.cfg.Targets {
		resolving, cancel := context.WithTimeout(ctx, dialPatience)
		found, err := mesh.Resolve(resolving, text)
		cancel()
		if err != nil || found.Pinned {
			continue
		}
		if found.Run == "" {
			found.Run = l.runAt(ctx, found.Addresses)
		}
		if found.Run != "" && found.Run != own {
			return true
		}
	}
	return false
}

// runAt asks the first node that answers at some addresses what it works on; "" if none does, or on nothing.
func (l *lane) runAt(ctx context.Context, addresses []string) string {
	m, _ := l.current()
	for _, a := range addresses {
		dialing, cancel := context.WithTimeout(ctx, dialPatience)
		hello, err := m.Dial(dialing, a)
		cancel()
		if err == nil {
			return hello.Run
		}
	}
	return ""
}

// sleep waits; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
