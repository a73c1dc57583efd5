package film

import "math"

// vector is x, y, z. Every product that is added is rounded first, so that a picture in space has the same
// pixels on every machine.
type vector struct{ x, y, z float64 }

// at returns three numbers as a vector.
func at(p []float64) vector { return vector{p[0], p[1], p[2]} }

func (a vector) plus(b vector) vector  { return vector{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vector) minus(b vector) vector { return vector{a.x - b.x, a.y - b.y, a.z - b.z} }

func (a vector) times(k float64) vector {
	return vector{float64(a.x * k), float64(a.y * k), float64(a.z * k)}
}

func (a vector) dot(b vector) float64 {
	return float64(a.x*b.x) + float64(a.y*b.y) + float64(a.z*b.z)
}

func (a vector) length() float64 { return math.Sqrt(a.dot(a)) }

// unit returns a with length 1.
func (a vector) unit() vector { return a.times(1 / a.length()) }
