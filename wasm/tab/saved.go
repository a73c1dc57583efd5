//go:build js && wasm

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"slices"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/mesh"
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

// Last is what a node in the run of the last visit would say of it; false: that run is not known, this build cannot
// take part in it, or it is not the wanted one, "" for any.
func (s *saved) Last(wanted string) (mesh.Hello, bool) {
	if s.browser == nil {
		return mesh.Hello{}, false
	}
	spec, err := seedlog.DecodeSpec(s.browser.Spec())
	if err != nil {
		return mesh.Hello{}, false
	}
	if _, err := seedlog.NewRules(spec); err != nil {
		return mesh.Hello{}, false
	}
	run := spec.Link().String()
	return mesh.Hello{Run: run, Genesis: s.browser.Spec()}, wanted == "" || run == wanted
}

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
func (s *saved) Run(ctx context.Context, rules *seedlog.Rules) (run *store.BrowserRun, damaged bool, err error) {
	if s.browser == nil {
		if run, err = store.NewUnsaved(rules); err == nil {
			run.Bound(roomInMemory)
		}
		return run, false, err
	}
	run, err = s.browser.OpenRun(rules)
	if errors.Is(err, store.ErrCorrupt) {
		damaged = true
		if err = s.Forget(ctx, rules); err == nil {
			run, err = s.browser.OpenRun(rules)
		}
	}
	if err != nil {
		return nil, damaged, err
	}
	quota, _ := s.browser.Quota(ctx)
	run.Bound(room(quota, savesData()))
	return run, damaged, nil
}

// Use notes that a run is used now, and reports whether another one was removed to make room.
func (s *saved) Use(ctx context.Context, rules *seedlog.Rules) (removed bool) {
	if s.browser == nil {
		return false
	}
	removed, err := s.browser.Use(ctx, rules)
	return removed && err == nil // a database that cannot be written is reported where it matters
}

// Forget removes what is kept of a run.
func (s *saved) Forget(ctx context.Context, rules *seedlog.Rules) error {
	if s.browser == nil {
		return nil
	}
	return s.browser.Forget(ctx, rules.Run)
}

// savesData reports whether the person asked the browser to save data. Not all browsers say.
func savesData() bool {
	connection := js.Global().Get("navigator").Get("connection")
	return connection.Truthy() && connection.Get("saveData").Truthy()
}
