package bench

import (
	"bytes"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// replayTasks fold the logs of short runs.
func replayTasks() (tasks []*task, err error) {
	for _, strategy := range []string{"openai-es", "dises"} {
		rows, err := replayTasksOf(strategy)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, rows...)
	}
	return tasks, nil
}

// replayTasksOf rebuild a policy of 4,610 parameters from a log in memory, with all that a replay checks, and
// from the bare results, with nothing but the strategy's updates. Values are per generation of 256
// evaluations.
func replayTasksOf(strategy string) ([]*task, error) {
	const generations = 8
	bias := true
	rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: strategy, Settings: runspec.Settings{
		"population": uint64(256), "episodes": uint64(1), "hidden": []uint64{64, 64}, "activation": "tanh", "bias": bias}})
	if err != nil {
		return nil, err
	}
	log, batches, err := shortRun(rules, generations)
	if err != nil {
		return nil, err
	}
	bare := &task{unit: "ms", work: generations, run: func() {
		state := rules.Initial()
		for _, results := range batches {
			state = rules.Strategy.Apply(state, results)
		}
	}}
	return []*task{bare, {name: "replay " + strategy, unit: "ms", work: generations, limit: bare.value, run: func() {
		if _, err := seedlog.Replay(bytes.NewReader(log), seedlog.ReplayOptions{}); err != nil {
			panic("bench: the log of a short run: " + err.Error())
		}
	}}}, nil
}

// shortRun is a run on one machine: its log, and the results of its generations.
func shortRun(rules *seedlog.Rules, generations int) (log []byte, batches [][]evolve.Result, err error) {
	pool := rollout.NewPool(rules.Plan, 0)
	key, state, parent := seedlog.SoloKey(rules.Spec), rules.Initial(), seedlog.Parent{Link: rules.Run}
	log = rules.AppendBeginning(nil)
	for range generations {
		chunks := rules.Spec.Generation.Evaluations / rules.EvaluationsPerChunk()
		claims, err := rules.Measure(pool, state, parent.Link, key, chunks, nil)
		if err != nil {
			return nil, nil, err
		}
		batches = append(batches, rules.Results(parent.Link, claims))
		entry, next := rules.NewEntry(state, parent, 1, rules.Origin, claims)
		log = seedlog.AppendGeneration(log, entry, seedlog.NewSeal(entry, key, nil), claims)
		_, link := entry.Encode()
		state, parent = next, parent.Next(link, entry)
	}
	return log, batches, nil
}
