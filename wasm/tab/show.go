//go:build js && wasm

package main

import (
	"errors"
	"io"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/contribution"
	"github.com/evoswarm/evoswarm/node/model"
)

// What the page shows beyond the status: the newest generations, this tab's own candidates, and its neighbors.

// errGone is returned for a candidate that is not kept any more.
var errGone = errors.New("this candidate is not kept any more; choose a newer one")

// maxNeighbors bounds the peers that a page draws.
const maxNeighbors = 12

// neighbor is a peer with a direct connection.
type neighbor struct {
	Key string `json:"key"` // in hexadecimal
	Tab bool   `json:"tab"`
	Hub bool   `json:"hub"`
}

// keepState keeps the state of the moment: candidates may come of it.
func (t *tab) keepState(p *peer.Peer) {
	state, on := p.Newest()
	if state == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.put(on, state)
}

// recent returns the newest generations above a height. It may wait for the browser's database.
func (t *tab) recent(after uint64) []recentEntry {
	t.mu.Lock()
	log, rules, p := t.store, t.rules, t.peer
	t.mu.Unlock()
	if p == nil {
		return []recentEntry{}
	}
	r := recentReader{log: log, rules: rules, self: p.Mesh().Self(), on: func(l seedlog.Link) *evolve.State {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.kept.on(l)
	}}
	entries := r.above(after)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.album.put(entries)
	return entries
}

// candidate returns what plays the candidate of a move: its parent's state, the seed and the sign.
func (t *tab) candidate(id string) (setup, state []byte, m move, err error) {
	t.mu.Lock()
	m, ok := t.album.find(id)
	setup = t.setup
	t.mu.Unlock()
	if !ok {
		return nil, nil, m, errGone
	}
	state, err = m.candidate.state.MarshalBinary()
	return setup, state, m, err
}

// neighbors lists the peers with a direct connection.
func (t *tab) neighbors() []neighbor {
	out := []neighbor{}
	if p := t.current(); p != nil {
		for _, l := range p.Mesh().Links() {
			if len(out) < maxNeighbors {
				out = append(out, neighbor{Key: l.Peer.String(), Tab: l.Kind == coordinator.Tab, Hub: l.Hub})
			}
		}
	}
	return out
}

// policyFile writes the policy that is in view as safetensors.
func (t *tab) policyFile(w io.Writer) error {
	t.mu.Lock()
	rules, log, p := t.rules, t.store, t.peer
	t.mu.Unlock()
	if p == nil {
		return errNoRun
	}
	state, height := p.Model()
	m := model.Of(&seedlog.Replayed{Rules: rules, Parent: seedlog.Parent{Height: height}, State: state})
	m.Head = "" // a tab without the log does not know it
	if entry, _, ok := log.At(height); ok {
		m.Head = entry.String()
	}
	return m.WriteSafetensors(w)
}

// errCounting is returned as long as a tab does not know what the whole log holds.
var errCounting = errors.New("this tab has not taken in the whole log yet; try again when it has")

// certificate writes what the log holds of this tab, signed with its key.
func (t *tab) certificate(w io.Writer) error {
	t.mu.Lock()
	rules, key, p := t.rules, t.key, t.peer
	t.mu.Unlock()
	if p == nil {
		return errNoRun
	}
	s := p.Status()
	if s.Light || s.Behind > 0 || s.Base > 0 || s.Reason == peer.CatchingUp {
		return errCounting
	}
	c := seedlog.Contribution{Run: rules.Run, Peer: seedlog.PeerOf(key), Evaluations: s.Mine, Steps: s.MineSteps, Height: s.Height, Head: s.HeadLink}
	c.Sign(key)
	return contribution.Write(w, &c)
}
