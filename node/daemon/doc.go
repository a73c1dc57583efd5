// Package daemon is a running node: its data folder, its place in a swarm, its HTTP side, and the verbs that
// start it and talk to it.
package daemon
