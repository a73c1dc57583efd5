package main

import (
	"context"
	"math"
	"sync"
	"time"
)

// gate shares cores: of the trials that wait, the next one is of the world that had least of its share, and of its
// trials the one that had least. So a world whose trials are over leaves its cores to the others.
type gate struct {
	mu      sync.Mutex
	free    int
	waiting []*turn
}

// turn is a trial's wish for its cores.
type turn struct {
	trial *trial
	begin chan struct{} // closed when it has them
}

// enter waits until t may compute on its cores, and reports whether it may: false when ctx ends first.
func (g *gate) enter(ctx context.Context, t *trial) bool {
	wish := &turn{t, make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, wish)
	g.next()
	g.mu.Unlock()
	select {
	case <-wish.begin:
		return true
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == wish {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return false
		}
	}
	g.free += t.cores // it had just begun
	g.next()
	return false
}

// leave gives back the cores that t had for so long.
func (g *gate) leave(t *trial, held time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.held += held
	t.world.held += held * time.Duration(t.cores)
	g.free += t.cores
	g.next()
}

// next lets in the trials whose turn it is, while there are cores for them. The caller holds the lock.
func (g *gate) next() {
	for {
		best, least, own := -1, math.Inf(1), time.Duration(0)
		for i, w := range g.waiting {
			part := w.trial.world.held.Seconds() / w.trial.world.Share
			if best < 0 || part < least || part == least && w.trial.held < own {
				best, least, own = i, part, w.trial.held
			}
		}
		if best < 0 || g.waiting[best].trial.cores > g.free {
			return
		}
		w := g.waiting[best]
		g.waiting = append(g.waiting[:best], g.waiting[best+1:]...)
		g.free -= w.trial.cores
		close(w.begin)
	}
}

// hadOf returns for how long t had its cores.
func (g *gate) hadOf(t *trial) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return t.held
}
