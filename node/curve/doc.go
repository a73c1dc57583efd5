// Package curve keeps the learning curve of a run, one row per generation, in a CSV file and in step with the
// run's log; package tensorboard does so in event files.
package curve
