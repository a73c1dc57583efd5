package daemon

import (
	"context"
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

// Over is closed when the node should be closed and started again, with what [Node.Rest] returns.
func (n *Node) Over() <-chan struct{} { return n.over }

// watchEnd waits for the end of the run, and for something to do after it.
func (n *Node) watchEnd() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-n.stop
		cancel()
	}()
	for n.awaitEnd(ctx) {
		switch {
		case len(n.queue) > 1:
			if sleep(ctx, lastWords) && n.peer.Status().Ended {
				close(n.over)
				return
			}
		case sleep(ctx, lookAround):
			if n.elsewhere(ctx) {
				close(n.over)
				return
			}
		}
	}
}

// awaitEnd waits until the run has ended, and remembers that; false: the node ends.
func (n *Node) awaitEnd(ctx context.Context) bool {
	updates, end := n.peer.Watch()
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
				n.rememberEnd(s.Run)
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
	n.memory.Ended = append(n.memory.Ended, run)
	if err := n.memory.write(n.cfg.Data); err != nil {
		n.cfg.Logger.Warn("remembering that the run has ended", "error", err)
	}
}

// elsewhere reports whether a page or a node where this node joined names another run by now. A target with #RUN means
// that run alone.
func (n *Node) elsewhere(ctx context.Context) bool {
	own := n.peer.Status().Run
	for _, text := range n.cfg.Targets {
		resolving, cancel := context.WithTimeout(ctx, dialPatience)
		found, err := mesh.Resolve(resolving, text)
		cancel()
		if err != nil || found.Pinned {
			continue
		}
		if found.Run == "" {
			found.Run = n.runAt(ctx, found.Addresses)
		}
		if found.Run != "" && found.Run != own {
			return true
		}
	}
	return false
}

// runAt asks the first node that answers at some addresses what it works on; "" if none does, or on nothing.
func (n *Node) runAt(ctx context.Context, addresses []string) string {
	for _, a := range addresses {
		dialing, cancel := context.WithTimeout(ctx, dialPatience)
		hello, err := n.mesh.Dial(dialing, a)
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
