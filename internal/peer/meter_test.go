package peer

import (
	"testing"
	"time"
)

func TestMeterRate(t *testing.T) {
	begun := time.Unix(1000, 0)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	for _, test := range []struct {
		name       string
		every      float64 // seconds between two times that count 100
		until      float64
		rate, slow float64
	}{
		{"often", 1, 20.5, 100, 100},
		{"just begun", 1, 3.5, 300 / 3.5, 300 / 3.5},
		{"between two generations of 15 s", 15, 57, 0, 200 / 42.},
		{"after a generation of 15 s", 15, 60.5, 10, 200 / 30.5},
		{"one generation", 15, 27, 0, 100 / 12.},
		{"a run that stopped", 1000, 1999, 0, 0},
		{"nothing so far", 15, 5, 0, 0},
	} {
		var m, slow meter
		for s := test.every; s <= test.until; s += test.every {
			m.add(at(s), 100)
			slow.add(at(s), 100)
		}
		if got := m.rate(at(test.until), begun); got != test.rate {
			t.Errorf("%s: got a rate of %v, want %v", test.name, got, test.rate)
		}
		if got := slow.slowRate(at(test.until), begun); got != test.slow {
			t.Errorf("%s: got a slow rate of %v, want %v", test.name, got, test.slow)
		}
	}
}
