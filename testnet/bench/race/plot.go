package main

import (
	"fmt"
	"math"
	"os"

	"github.com/evoswarm/evoswarm/node/chart"
)

// Both axes are logarithmic: a swarm of N that is N times as fast lies on the ideal line.
const (
	axisPeers = "peers, 2^x"
	axisTimes = "times as fast as one, 2^y"
)

// published is what Salimans et al. 2017 state for OpenAI-ES on Humanoid-v1: 18 cores took 657 minutes, 1,440 took 10.
var published = chart.Series{Name: "OpenAI-ES as published, 18 to 1,440 cores", Color: 2, X: []float64{0, math.Log2(1440. / 18)}, Y: []float64{0, math.Log2(657. / 10)}}

// draw writes how the speed of a swarm grows with its size, and how much of what its machines can compute is logged.
func draw(rows []row, name string) error {
	format, err := chart.FormatOf(name)
	if err != nil {
		return err
	}
	speed, logged := chart.Series{Name: "this swarm, medians"}, chart.Series{}
	steps := chart.Series{Name: "env-steps until solved, times those of one", Color: 1}
	var ideal chart.Series
	var alone, aloneSteps float64
	for _, size := range bySize(rows) {
		peers := float64(size[0].Peers)
		seconds, used := median(size, func(r row) float64 { return r.Seconds }), median(size, func(r row) float64 { return float64(r.Steps) })
		if alone == 0 {
			alone, aloneSteps = seconds*peers, used
		}
		x := math.Log2(peers)
		ideal.X, ideal.Y = append(ideal.X, x), append(ideal.Y, x)
		speed.X, speed.Y = append(speed.X, x), append(speed.Y, math.Log2(alone/seconds))
		steps.X, steps.Y = append(steps.X, x), append(steps.Y, used/aloneSteps)
		logged.X, logged.Y = append(logged.X, x), append(logged.Y, median(size, func(r row) float64 { return r.Logged }))
	}
	ideal.Name, ideal.Color, logged.Name, logged.Color = "ideal", 3, "part of what all machines can compute that is in the log", 0
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %d runs of each size, simulated network", rows[0].Env, len(bySize(rows)[0]))
	zero := 0.0
	err = chart.WriteColumn(file, format,
		&chart.Chart{Title: title, X: axisPeers, Y: axisTimes, Series: []chart.Series{ideal, speed, published}},
		&chart.Chart{X: axisPeers, Y: "part; times", Floor: &zero, Series: []chart.Series{logged, steps}})
	if shut := file.Close(); err == nil {
		err = shut
	}
	return err
}

// bySize groups runs, which are in the order of their sizes.
func bySize(rows []row) (sizes [][]row) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Peers == rows[0].Peers {
			n++
		}
		sizes, rows = append(sizes, rows[:n]), rows[n:]
	}
	return sizes
}
