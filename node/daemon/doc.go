// Package daemon is a running node: its data folder, its place in a swarm, and the HTTP side of it. What the user types
// and sees is package cli's.
package daemon
