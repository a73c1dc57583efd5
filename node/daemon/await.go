package daemon

import "context"

// Where nobody answers any more, a node that others can dial may still be found by those who have the run: tabs dial
// the nodes that they knew, and ask the node that served their page for its addresses. So it waits for them.

// awaited is the run that the node's links name, if others can dial the node; "" if they name none, or several.
func (l *lane) awaited() (run string) {
	if !l.node.cfg.Public && len(l.node.cfg.Listen) == 0 || len(l.left()) > 0 {
		return ""
	}
	for _, text := range l.node.cfg.Targets {
		named := pinnedRun(text)
		if named == "" || run != "" && named != run {
			return ""
		}
		run = named
	}
	return run
}

// awaitPeer waits for a peer of the awaited run and begins to work on that; false: the node stops, or awaits none.
func (l *lane) awaitPeer(ctx context.Context) bool {
	run := l.awaited()
	for run != "" && l.working() == nil {
		m, _ := l.current()
		hello, err := m.Await(ctx, run)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			err = l.enter(ctx, m, hello.Genesis)
		}
		if err != nil {
			l.node.cfg.Logger.Error("the run cannot be joined", "run", run, "error", err)
			l.down(err)
			if !l.retry(ctx) {
				return false
			}
			continue
		}
		select {
		case l.node.moved <- "peers of the run are here":
		case <-ctx.Done():
			return false
		}
	}
	return run != ""
}
