package peer

import "testing"

// TestReturnOfASolvedRun: a solved run shows the return of the policy that passed the test, not of a later one.
func TestReturnOfASolvedRun(t *testing.T) {
	curve := []Point{{Height: 4, Return: 10}, {Height: 8, Return: 212}, {Height: 12, Return: 72}}
	for _, test := range []struct {
		curve  []Point
		solved uint64
		want   float64
		ok     bool
	}{{curve, 8, 212, true}, {curve, 0, 72, true}, {curve, 9, 72, true}, {nil, 8, 0, false}} {
		if got, ok := toShow(test.curve, test.solved); ok != test.ok || got.Return != test.want {
			t.Errorf("solved at %d: %v %t, want %v", test.solved, got.Return, ok, test.want)
		}
	}
}
