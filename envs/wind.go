package envs

import "errors"

// ErrWind is wrapped by the errors of Windy.SetWind.
var ErrWind = errors.New("bad wind")

// Windy is an Env in which wind can blow. Without SetWind it is calm, as Gymnasium's is.
type Windy interface {
	Env

	// SetWind makes wind of that power [N] and turbulence [N m] blow from the next Reset on. It returns an error that
	// wraps ErrWind, and changes nothing, if one of them is not finite or out of its range. A state has its own wind:
	// SetState replaces it, for later Resets too.
	SetWind(power, turbulence float64) error
}
