// Package settings is what a user can say of a run: flags, a TOML file, and the model to begin with.
package settings
