//go:build !js

package envs

// playFirst says that Register takes a first reset and step of an instance.
const playFirst = true
