// Package api shows types that users cannot name, in each place where a type can occur; TestPublicAPIFixture reads it.
package api

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

type hidden struct{}

// Fine hides what it holds.
type Fine struct{ state *evolve.State }

// Named has a public name.
func Named(*noise.Stream, Fine) {}

// Argument is a leak.
func Argument(evolve.Params) {}

// Function is a leak.
func Function() func() *evolve.State { return nil }

// Variable is a leak.
var Variable hidden

// Field is a leak.
type Field struct{ State *evolve.State }

// Element is a leak.
type Element map[string][]evolve.Slot

// Method is a leak.
type Method int

// Leak shows a type.
func (Method) Leak() (h hidden) { return h }

// Interface is a leak.
type Interface interface{ Leak() evolve.Strategy }
