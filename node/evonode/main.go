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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Standard()))
}
