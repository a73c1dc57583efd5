// Command evonode trains reinforcement-learning policies by evolution strategies, alone or in a swarm.
//
// See evonode --help, or README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evoswarm/evoswarm/node/cli"
)

func main() { os.Exit(cli.Main(interrupted(), os.Args[1:], cli.Standard())) }

// statusInterrupted is the exit status of a process that was asked twice to end, as shells have it: 128 + SIGINT.
const statusInterrupted = 130

// oneSignal is the time within which two signals are one: timeout(1), for one, signals a process and then its group.
const oneSignal = 300 * time.Millisecond

// interrupted returns a context that ends when the user asks the process to stop: with Ctrl-C, or SIGTERM. If
// the user asks again, the process ends at once.
func interrupted() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 2)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		cancel()
		for first := time.Now(); ; {
			<-asked
			if time.Since(first) > oneSignal {
				os.Exit(statusInterrupted)
			}
		}
	}()
	return ctx
}
