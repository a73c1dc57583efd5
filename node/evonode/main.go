// Command evonode trains reinforcement-learning policies by evolution strategies, alone or in a swarm.
//
// See evonode --help, or README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/evoswarm/evoswarm/node/cli"
)

func main() { os.Exit(cli.Main(interrupted(), os.Args[1:], cli.Standard())) }

// statusInterrupted is the exit status of a process that was told twice to end, as shells have it: 128 + SIGINT.
const statusInterrupted = 130

// interrupted returns a context that ends when the user asks the process to stop: with Ctrl-C, or SIGTERM. If the user asks
// again, the process ends at once.
func interrupted() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 2)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		cancel()
		<-asked
		os.Exit(statusInterrupted)
	}()
	return ctx
}
