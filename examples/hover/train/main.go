// Command train learns to hover and prints what came out. Run it again to resume from its log, hover.seedlog.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/evoswarm/evoswarm"
	"github.com/evoswarm/evoswarm/examples/hover" // its init function registers the environment
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := evoswarm.Train(ctx, evoswarm.Options{Env: hover.Spec.ID, Log: "hover.seedlog"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("solved: %t after %d env-steps\n", result.Solved, result.Steps)
	held, err := result.Model.Evaluate(1000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("return in 1000 other episodes: %.1f ± %.1f\n", held.Mean, held.StdErr)
	fmt.Printf("0.5 m too high and still, it thrusts %.2f\n", result.Model.Act([]float32{0.5, 0})[0])
}
