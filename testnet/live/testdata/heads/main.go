// A program of the live tests: with the kernel that is named it trains a small run with every strategy, alone, and
// prints the strategy and the id of its last generation, a line each. Usage: heads GENERATIONS KERNEL.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "heads:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: heads GENERATIONS KERNEL")
	}
	generations, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		return err
	}
	if err := kernel.Use(os.Args[2]); err != nil {
		return err
	}
	for _, m := range evolve.Methods() {
		head, err := train(m.Name, generations)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		fmt.Println(m.Name, head)
	}
	return nil
}

// population is that of each run.
const population = 16

func train(strategy string, generations uint64) (head seedlog.Link, err error) {
	rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: strategy, Seed: 3,
		Settings: runspec.Settings{"population": uint64(population), "policy": "mlp", "hidden": []uint64{18}, "activation": "tanh"}})
	if err != nil {
		return head, err
	}
	start, err := seedlog.Replay(bytes.NewReader(rules.AppendBeginning(nil)), seedlog.ReplayOptions{})
	if err != nil {
		return head, err
	}
	r, err := solo.Train(context.Background(), solo.Config{Log: beginning{start}, Until: solo.Until{Evaluations: generations * population}})
	return r.Head, err
}

// beginning is a solo.Log that keeps nothing.
type beginning struct{ start *seedlog.Replayed }

func (b beginning) Replayed() *seedlog.Replayed                                  { return b.start }
func (b beginning) Append(*seedlog.Entry, *seedlog.Seal, []*seedlog.Claim) error { return nil }
func (b beginning) Sync() error                                                  { return nil }
