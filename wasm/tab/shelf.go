//go:build js && wasm

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// shelf is what this browser keeps between visits: the key, the addresses of hubs, and the runs. Where the browser
// keeps nothing it is empty, and lasts as long as the page.
type shelf struct {
	key ed25519.PrivateKey
}

// openShelf opens what is kept. On error the shelf is one that keeps nothing, and works.
func openShelf(ctx context.Context) (*shelf, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return &shelf{key}, err
}

func (s *shelf) Key() ed25519.PrivateKey { return s.key }

func (s *shelf) Addresses() []string { return nil }

func (s *shelf) Remember([]string) {}

func (s *shelf) Run(ctx context.Context, spec *seedlog.Spec) (store.Store, error) {
	return store.NewMemory(spec), nil
}
