//go:build !js

package envs

// playFirst says that Register takes a first reset and step.
const playFirst = true
