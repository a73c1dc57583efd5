package evoswarm

import "github.com/evoswarm/evoswarm/internal/kernel"

// The choice is made once, before anything is evaluated; every kernel that passes its self-test gives the same bits.
func init() { _, _ = kernel.UseFastest() }
