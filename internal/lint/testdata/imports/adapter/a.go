// Package adapter imports its neighbor.
package adapter

import (
	_ "os"

	_ "github.com/evoswarm/evoswarm/coordinator"
	_ "github.com/evoswarm/evoswarm/internal/mesh" // want: adapters do not import each other
	_ "github.com/evoswarm/evoswarm/internal/peer" // want: upward import
	_ "github.com/evoswarm/evoswarm/internal/store/disk"
)
