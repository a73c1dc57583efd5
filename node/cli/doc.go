// Package cli is the command evonode: the table of its verbs. Each verb lives in the room that it serves;
// package verb has what they share, and the rules of the interface.
package cli
