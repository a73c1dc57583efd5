package worlds

import _ "embed"

// Prelude is prelude.h, which precedes every translation.
//
//go:embed prelude.h
var Prelude string
