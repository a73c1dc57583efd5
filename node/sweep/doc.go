// Package sweep trains many seeds of the same settings, keeps what they gave as a table, and says what the table means:
// how many runs solved their world, and how many env-steps and seconds that took.
//
// A run that did not solve its world counts as one that would have taken for ever: its env-steps and seconds enter medians
// and quartiles as infinite. So a method that fails half of the time has no finite median, whatever the other half takes.
package sweep
