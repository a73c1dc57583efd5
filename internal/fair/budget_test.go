package fair

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// TestBudget: over any time a source spends at most a burst and what came back meanwhile, and what others spend does
// not matter to it.
func TestBudget(t *testing.T) {
	for seed := range uint64(50) {
		draw := noise.NewStream(seed, 4)
		rate, burst := 1+draw.Uint64()%5, 10+draw.Uint64()%50
		b, alone := NewBudget[int](rate, burst, 100), NewBudget[int](rate, burst, 1)
		type payment struct{ at, sum uint64 }
		paid := []payment{{0, 0}}
		now, sum := uint64(0), uint64(0)
		for range 500 {
			now += draw.Uint64() % 4
			b.Take(now, 1+int(draw.Uint64()%90), draw.Uint64()%burst)
			cost := draw.Uint64() % burst
			took := b.Take(now, 0, cost)
			if took != alone.Take(now, 0, cost) {
				t.Fatalf("seed %d: with others the answer is %v", seed, took)
			}
			if b.Left(now, 0) != alone.Left(now, 0) {
				t.Fatalf("seed %d: %d left, alone %d", seed, b.Left(now, 0), alone.Left(now, 0))
			}
			if !took {
				continue
			}
			sum += cost
			for _, p := range paid {
				if sum-p.sum > burst+(now-p.at)*rate {
					t.Fatalf("seed %d: %d spent in %d units; burst %d, rate %d", seed, sum-p.sum, now-p.at, burst, rate)
				}
			}
			paid = append(paid, payment{now, sum})
		}
		if sum < 200 {
			t.Fatalf("seed %d: %d spent in all", seed, sum)
		}
	}
}

// TestBudgetEdges: a dear thing needs a full budget, time may run back, a source that was forgotten begins again.
func TestBudgetEdges(t *testing.T) {
	b := NewBudget[int](2, 10, 2)
	if !b.Take(100, 1, 1000) || b.Take(100, 1, 1) || b.Left(100, 1) != 0 {
		t.Fatal("what costs more than a burst must spend it all")
	}
	if b.Take(104, 1, 1000) || !b.Take(105, 1, 1000) {
		t.Fatal("a burst comes back after 5 units, not before")
	}
	if b.Take(50, 1, 1) || b.Left(50, 1) != 0 {
		t.Fatal("time that runs back gives nothing back")
	}
	b.Take(105, 2, 10)
	b.Take(105, 3, 10)
	if b.Left(105, 1) != 10 || b.Left(105, 2) != 0 {
		t.Fatalf("remembered %d and %d", b.Left(105, 1), b.Left(105, 2))
	}
	b.Charge(200, 1, 30)
	if b.Left(200, 1) != 0 || b.Left(210, 1) != 0 || b.Left(211, 1) != 2 || b.Left(215, 1) != 10 {
		t.Fatal("what was charged beyond the burst must come back first")
	}
	if none := NewBudget[int](0, 3, 9); !none.Take(0, 1, 3) || none.Take(1<<60, 1, 1) {
		t.Fatal("at rate 0 nothing comes back")
	}
}
