//go:build js && wasm

package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

const (
	dialTimeout = 10 * time.Second       // for a round
	dialStagger = 700 * time.Millisecond // between two addresses, if the first does not answer
	// backoffMin and backoffMax bound the wait between two rounds of dialing; it doubles from round to round.
	backoffMin = 500 * time.Millisecond
	backoffMax = 20 * time.Second
)

// find dials until a node answers that is in the wanted run. Where nobody can be reached for a while, it returns the
// run of the last visit, which this tab continues alone: others may have nothing left of it.
func (t *tab) find(m *mesh.Mesh, saved *saved) (mesh.Hello, bool) {
	last, known := saved.Last(t.cfg.run)
	begun := time.Now()
	for wait := backoffMin; ; wait = min(2*wait, backoffMax) {
		hello, err := t.dial(m, t.cfg.run)
		t.tellWays(m)
		switch {
		case err == nil:
			return hello, true
		case errors.Is(err, errOtherRun):
			t.cfg.onPhase(noRun)
			t.stray("stayed")
		case errors.Is(err, errNoRun):
			t.cfg.onPhase(noRun)
			wait = min(wait, 2*time.Second)
		case known && time.Since(begun) >= aloneAfter:
			return last, true
		default:
			t.cfg.onPhase(connecting)
			if known {
				wait = min(wait, time.Second)
			}
		}
		if !t.sleep(&wait) {
			return mesh.Hello{}, false
		}
	}
}

var (
	errNobody   = errors.New("no node can be reached")
	errNoRun    = errors.New("no reachable node has a run")
	errOtherRun = errors.New("the reachable nodes are in another run")
)

// dial tries all known addresses and returns the first hello from the run, "" for any. An address that does not answer
// soon does not keep the next ones waiting.
func (t *tab) dial(m *mesh.Mesh, run string) (mesh.Hello, error) {
	type answer struct {
		addr  string
		hello mesh.Hello
		err   error
	}
	ctx, cancel := context.WithTimeout(t.ctx, dialTimeout)
	defer cancel()
	targets := t.targets()
	answers := make(chan answer, len(targets))
	result, begun, open := errNobody, 0, 0
	for begun < len(targets) || open > 0 {
		var patience <-chan time.Time
		if begun < len(targets) {
			addr := targets[begun]
			begun++
			open++
			go func() {
				hello, err := m.Dial(ctx, addr)
				answers <- answer{addr, hello, err}
			}()
			patience = time.After(dialStagger)
		}
		select {
		case <-patience:
		case a := <-answers:
			open--
			if a.err != nil {
				continue
			}
			switch {
			case a.hello.Run == "":
				t.remember(a.hello.Hubs)
				result = errNoRun
			case run == "" || a.hello.Run == run:
				t.remember(a.hello.Hubs)
				return a.hello, nil
			default:
				result = errOtherRun
				m.Leave(a.hello.Peer) // the run may be at another address of it
				t.postpone(a.addr)
			}
		}
	}
	return mesh.Hello{}, result
}

// postpone has an address tried after all others.
func (t *tab) postpone(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.known, addr); i >= 0 {
		t.known = append(slices.Delete(t.known, i, i+1), addr)
	}
}

// sleep waits, but if the page asks for a round it returns at once and the backoff starts over. It reports
// false at the end.
func (t *tab) sleep(wait *time.Duration) bool {
	select {
	case <-t.ctx.Done():
		return false
	case <-t.again:
		*wait = backoffMin
	case <-time.After(*wait):
	}
	return true
}

// targets lists the known addresses that this tab can dial, in the order in which it tries them.
func (t *tab) targets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mesh.Order(t.known)
}

// maxKnown bounds the addresses to try.
const maxKnown = 32

// remember adds addresses, the newest in front.
func (t *tab) remember(addresses []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, addr := range slices.Backward(addresses) {
		t.known = slices.DeleteFunc(t.known, func(a string) bool { return a == addr || mesh.Renews(addr, a) })
		t.known = slices.Insert(t.known, 0, addr)
	}
	t.known = t.known[:min(len(t.known), maxKnown)]
}

// checkLink tells the volunteer of addresses in the page's link that lead nowhere.
func (t *tab) checkLink() {
	for _, addr := range t.cfg.peers {
		if err := mesh.CheckAddr(addr); err != nil {
			t.cfg.onError(trouble{kind: "link", why: err.Error()})
		}
	}
}

// redial starts a round of dialing, with new addresses in front.
func (t *tab) redial(addresses []string) {
	t.remember(addresses)
	select {
	case t.again <- struct{}{}:
	default:
	}
}
