//go:build js && wasm

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// database is the name of the tab's IndexedDB database.
const database = "evoswarm"

// saved is what this browser keeps between visits: the key, the addresses of hubs, and the runs with their votes. Where
// the browser keeps nothing, it lasts as long as the page.
type saved struct {
	browser *store.Browser // nil: keeps nothing
	key     ed25519.PrivateKey
	hubs    []string
}

// openSaved opens what is kept. On error the result keeps nothing, and works.
func openSaved(ctx context.Context) (*saved, error) {
	b, err := store.OpenBrowser(ctx, database)
	if err == nil {
		return &saved{browser: b, key: b.Key(), hubs: b.Peers()}, nil
	}
	_, key, keyErr := ed25519.GenerateKey(rand.Reader)
	return &saved{key: key}, errors.Join(err, keyErr)
}

// Key is this tab's identity.
func (s *saved) Key() ed25519.PrivateKey { return s.key }

// Addresses lists hubs that were good at an earlier visit.
func (s *saved) Addresses() []string { return s.hubs }

// Remember keeps the addresses of good hubs for the next visit.
func (s *saved) Remember(ctx context.Context, hubs []string) {
	if s.browser == nil || len(hubs) == 0 || slices.Equal(hubs, s.hubs) {
		return
	}
	// They are a convenience: a browser that cannot keep them has been reported where it matters.
	if s.browser.SavePeers(ctx, hubs) == nil {
		s.hubs = slices.Clone(hubs)
	}
}

// Run opens what is kept of a run. damaged says that it was incomplete and starts over: the swarm has it all.
func (s *saved) Run(ctx context.Context, spec *seedlog.Spec) (run store.Store, damaged bool, err error) {
	if s.browser == nil {
		return store.NewMemory(spec), false, nil
	}
	kept, err := s.browser.OpenRun(ctx, spec)
	if errors.Is(err, store.ErrCorrupt) {
		damaged = true
		if err = s.browser.Forget(ctx, spec.Link()); err == nil {
			kept, err = s.browser.OpenRun(ctx, spec)
		}
	}
	if err != nil {
		return nil, damaged, err
	}
	return kept, damaged, nil
}
