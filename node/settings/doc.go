// Package settings is how a user says what a run is to be: flags and a configuration file, made of the table in
// internal/runspec, and the model to begin with.
package settings
