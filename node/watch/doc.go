// Package watch draws the policy of a seed log in a browser, without a swarm.
package watch
