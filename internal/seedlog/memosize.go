//go:build !js

package seedlog

// memoDivisor divides the bytes that a checker remembers.
const memoDivisor = 1
