// Package sweep trains the same settings with many seeds, keeps the results as a table, and summarizes them: how many
// runs solved their environment, and how many env-steps and seconds that took.
//
// A run that did not solve its environment has infinite cost: its env-steps and seconds enter medians and quartiles as
// +Inf. So a method that fails half of the time has no finite median, whatever the other half takes.
package sweep
