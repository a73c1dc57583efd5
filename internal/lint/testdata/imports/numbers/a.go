// Package numbers imports what floor 0 must not.
package numbers

import (
	_ "encoding/binary"
	_ "math"         // want: forbidden import math
	_ "math/rand/v2" // want: forbidden import math/rand/v2
	_ "os"           // want: forbidden import os
	_ "sync/atomic"  // want: forbidden import sync/atomic
	_ "time"         // want: forbidden import time
	_ "unsafe"       // want: forbidden import unsafe

	_ "github.com/evoswarm/evoswarm/internal/exact"
	_ "github.com/evoswarm/evoswarm/internal/golden"  // want: test helper
	_ "github.com/evoswarm/evoswarm/internal/nowhere" // want: without a floor
	_ "github.com/evoswarm/evoswarm/internal/policy"  // want: upward import
	_ "gonum.org/v1/gonum/mat"                        // want: forbidden import gonum
)
