// Package worlds imports what floor 1 must not.
package worlds

import (
	_ "errors"
	_ "io"
	_ "net/http" // want: forbidden import net/http
	_ "sync"     // want: forbidden import sync

	_ "github.com/evoswarm/evoswarm/internal/kernel"
	_ "github.com/evoswarm/evoswarm/internal/rollout" // want: upward import
	_ "github.com/ipfs/go-cid"                        // want: forbidden import github.com/ipfs/go-cid
)
