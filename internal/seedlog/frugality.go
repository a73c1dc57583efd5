//go:build !js

package seedlog

// frugality divides what a checker remembers.
const frugality = 1
