// Package worlds holds the translation of step code (environments, the loop of episodes, policies) to other languages,
// and the table of the worlds in it.
//
// Floor 2, learning: floors 2 to 6 import it.
//
// worlds.c is written by internal/translate and committed; prelude.h, which it needs, is written by hand. A test makes
// the translation again and compares, so a change of step code needs `go generate ./internal/worlds`.
package worlds

//go:generate go -C ../.. run ./internal/worlds/_gen
