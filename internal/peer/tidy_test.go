//go:build !js

package peer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// untidy is a store that has something to drop until it is tidied.
type untidy struct {
	*store.Memory
	tidied atomic.Int32
}

func (u *untidy) Untidy() bool { return u.tidied.Load() == 0 }

func (u *untidy) Tidy([]seedlog.Link) error {
	u.tidied.Add(1)
	return nil
}

// A peer has its store drop what nobody needs, once.
func TestPeerTidies(t *testing.T) {
	rules := cartPole(t)
	kept := &untidy{Memory: store.NewMemory(rules.Spec)}
	p := join(t, rules, 1, func(c *peer.Config) { c.Store = kept })
	for deadline := time.Now().Add(patience); kept.Untidy() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	if n := kept.tidied.Load(); n != 1 {
		t.Errorf("tidied %d times", n)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
