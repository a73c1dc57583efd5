// Package learning imports what floor 2 must not.
package learning

import (
	_ "crypto/rand" // want: forbidden import crypto/rand
	_ "crypto/sha256"
	_ "encoding/json"
	_ "math"
	_ "sync" // want: forbidden import sync
	_ "time" // want: forbidden import time

	_ "github.com/evoswarm/evoswarm/coordinator" // want: upward import
	_ "github.com/evoswarm/evoswarm/envs"
	_ "github.com/ipfs/go-cid"
	_ "gonum.org/v1/gonum/mat"
)
