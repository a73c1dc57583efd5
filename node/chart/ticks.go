package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks marks an axis at about six round numbers, with short labels such as 20k.
type ticks struct{}

// marks is the desired number of intervals.
const marks = 6

// Ticks implements plot.Ticker.
func (ticks) Ticks(low, high float64) []plot.Tick {
	if !(high > low) {
		return []plot.Tick{{Value: low, Label: label(low)}}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/marks)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (high-low)/step > marks {
			step *= factor
		}
	}
	var all []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		all = append(all, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return all
}

// label writes a number with at most six digits and its thousands as a letter.
func label(x float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(x) >= unit.size {
			scale := unit.size
			if unit.name == "k" {
				scale = 1e3
			}
			return strconv.FormatFloat(x/scale, 'g', 6, 64) + unit.name
		}
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
