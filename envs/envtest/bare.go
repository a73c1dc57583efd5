package envtest

import "github.com/evoswarm/evoswarm/envs"

// bare is an environment with no more than training needs.
type bare struct{ spec *envs.Spec }

// Bare returns the description, not registered, of an environment that has no title, no documentation, no state
// to read and no drawing.
func Bare() *envs.Spec {
	s := &envs.Spec{
		ID: "Bare-v0", Revision: 1, ObsDim: 1, ObsLow: []float64{-1}, ObsHigh: []float64{1}, Action: envs.DiscreteSpace(2), MaxSteps: 10,
	}
	s.New = func() envs.Env { return bare{s} }
	return s
}

func (b bare) Spec() *envs.Spec                  { return b.spec }
func (bare) Reset(_ *envs.Stream, obs []float32) { obs[0] = 0 }
func (bare) Step(_ *envs.Stream, _ []float64, obs []float32) (reward float64, terminated bool) {
	obs[0] = 0
	return 0, false
}
