// Package curve keeps the course of a run, one row per generation: as a CSV file and as TensorBoard events, both in step
// with the run's log, and as points read from a log.
package curve
