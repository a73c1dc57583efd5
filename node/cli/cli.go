package cli

import (
	"context"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/bench"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/daemon"
	"github.com/evoswarm/evoswarm/node/device"
	"github.com/evoswarm/evoswarm/node/film"
	"github.com/evoswarm/evoswarm/node/page"
	"github.com/evoswarm/evoswarm/node/plot"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/sweep"
	"github.com/evoswarm/evoswarm/node/train"
	"github.com/evoswarm/evoswarm/node/verb"
	"github.com/evoswarm/evoswarm/node/watch"
)

// IO is what the command reads from and writes to.
type IO = verb.IO

// Standard returns the process's own streams.
func Standard() *IO { return verb.Standard() }

// Main runs evonode with args (without the program's name) and returns the exit status. ctx ends when the user asks
// the process to stop.
func Main(ctx context.Context, args []string, s *IO) int {
	return program().Main(ctx, args, s)
}

// program is evonode.
func program() *verb.Program {
	p := &verb.Program{
		Name: "evonode", Title: "Trains reinforcement-learning policies by evolution strategies, alone or in a swarm",
		Root: daemon.BootstrapVerb(printVersion), Setup: useKernel, Hint: hintFor,
		Values: map[string]func() []string{"ENV": environments, "STRATEGY": catalog.Strategies},
	}
	control := daemon.ControlVerbs()
	p.Groups = []verb.Group{
		{Title: "Train", Verbs: []*verb.Verb{train.Verb(), sweep.Verb(), catalog.EnvVerb(), catalog.StrategyVerb()}},
		{Title: "Look at what was trained", Verbs: []*verb.Verb{replay.EvalVerb(), watch.Verb(), film.Verb(), plot.Verb(), replay.LogVerb(), replay.ReplayVerb(), replay.ExportVerb(), replay.ContributionVerb()}},
		{Title: "Take part in a swarm", Verbs: append([]*verb.Verb{daemon.JoinVerb(), page.Verb(), daemon.KeyVerb()}, control...)},
		{Title: "About this program", Verbs: append([]*verb.Verb{bench.Verb(), device.Verb(), versionVerb()}, p.Own()...)},
	}
	return p
}

// environments lists the ids of all environments.
func environments() (ids []string) {
	for _, spec := range envs.All() {
		ids = append(ids, spec.ID)
	}
	return ids
}
