// Package protocol imports what floor 3 must not.
package protocol

import (
	_ "crypto/ed25519"
	_ "log/slog"  // want: forbidden import log/slog
	_ "math/rand" // want: forbidden import math/rand
	_ "sync"      // want: forbidden import sync
	_ "time"      // want: forbidden import time

	_ "github.com/evoswarm/evoswarm/internal/seedlog"
	_ "github.com/evoswarm/evoswarm/internal/store" // want: upward import
	_ "github.com/libp2p/go-libp2p/core/peer"       // want: forbidden import github.com/libp2p
)
