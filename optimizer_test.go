package evoswarm

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// sphere is largest where all values are 1.
func sphere(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		d := float64(v) - 1
		sum -= float64(d * d)
	}
	return sum
}

// tell measures the candidates of o.
func tell(t *testing.T, o *Optimizer, f func([]float32) float64) {
	t.Helper()
	var fitness []float64
	for _, c := range o.Ask() {
		fitness = append(fitness, f(c.Vector))
	}
	if err := o.Tell(fitness...); err != nil {
		t.Fatal(err)
	}
}

// save returns the state of o.
func save(t *testing.T, o *Optimizer) []byte {
	t.Helper()
	b, err := o.State()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEveryStrategy asks and tells each one, and continues from each state in another optimizer.
func TestEveryStrategy(t *testing.T) {
	for _, s := range Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			make := func() *Optimizer {
				o, err := New(s.Name, nil, 6, 16)
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			o := make()
			if err := o.Start(3, []float32{0, 0, 0, 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
			start := sphere(o.Mean())
			for gen := range uint64(30) {
				if got := o.Generation(); got != gen {
					t.Fatalf("generation %d, want %d", got, gen)
				}
				all := o.Ask()
				if len(all) != o.Population() {
					t.Fatalf("%d candidates, want %d", len(all), o.Population())
				}
				for i, c := range all {
					one := o.AskOne(i, make1(o.Dim()))
					if one.Seed != c.Seed || one.Sign != c.Sign || !slices.Equal(one.Vector, c.Vector) {
						t.Fatalf("AskOne(%d) = %v, want %v", i, one, c)
					}
					if c.Sign != 1 && (c.Sign != -1 || all[i-1].Seed != c.Seed) {
						t.Fatalf("candidate %d has sign %d, and seed %d after %d", i, c.Sign, c.Seed, all[i-1].Seed)
					}
				}
				twin := make()
				if err := twin.Restore(save(t, o)); err != nil {
					t.Fatal(err)
				}
				tell(t, o, sphere)
				tell(t, twin, sphere)
				if !bytes.Equal(save(t, o), save(t, twin)) {
					t.Fatalf("generation %d: the restored one goes another way", gen)
				}
			}
			if end := sphere(o.Mean()); !(end > start) {
				t.Errorf("30 generations lead from %v to %v", start, end)
			}
		})
	}
}

func make1(n int) []float32 { return make([]float32, n) }

// TestSeeds checks that the seed names the course, and the same one twice is the same course.
func TestSeeds(t *testing.T) {
	course := func(seed uint64) []byte {
		o, err := New("openai-es", nil, 4, 8)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Start(seed, nil); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			tell(t, o, sphere)
		}
		return save(t, o)
	}
	if !bytes.Equal(course(1), course(1)) || bytes.Equal(course(1), course(2)) {
		t.Error("seed 1 gives two courses, or that of seed 2")
	}
}

// TestBadFitnessRanksLast checks that NaN and infinities are worse than anything finite: the mean goes to the
// one good value.
func TestBadFitnessRanksLast(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		o, err := New("dises", nil, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		good := o.Ask()[2].Vector
		if err := o.Tell(bad, bad, -1e12, bad); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(o.Mean(), good) {
			t.Errorf("with %v the mean is %v, want %v", bad, o.Mean(), good)
		}
		if err := o.Tell(bad, bad, bad, bad); err != nil || !slices.Equal(o.Mean(), good) || o.Generation() != 2 {
			t.Errorf("nothing but %v moves the mean to %v (%v), generation %d", bad, o.Mean(), err, o.Generation())
		}
	}
}

func TestOptimizerRefuses(t *testing.T) {
	for _, c := range []struct {
		want            error
		text            string
		strategy        string
		params          Params
		dim, population int
	}{
		{ErrStrategy, "nearest: openai-es", "openai", nil, 3, 8},
		{ErrParams, "dimension is 0", "dises", nil, 0, 8},
		{ErrParams, "dimension is -1", "dises", nil, -1, 8},
		{ErrParams, "population is 0", "dises", nil, 3, 0},
		{ErrParams, "population is 7", "openai-es", nil, 3, 7},
		{ErrParams, `has no "sigam"`, "dises", Params{"sigam": 1}, 3, 8},
		{ErrParams, "sigma is NaN", "dises", Params{"sigma": math.NaN()}, 3, 8},
		{ErrParams, "sigma is nil", "dises", Params{"sigma": nil}, 3, 8},
		{ErrParams, "sigma is a []int", "dises", Params{"sigma": []int{1}}, 3, 8},
		{ErrParams, `sigma is "1"`, "dises", Params{"sigma": "1"}, 3, 8},
	} {
		_, err := New(c.strategy, c.params, c.dim, c.population)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("New(%q, %v, %d, %d) gives %v, want %q", c.strategy, c.params, c.dim, c.population, err, c.text)
		}
	}
	o, err := New("openai-es", nil, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	before := save(t, o)
	for _, fitness := range [][]float64{nil, {1}, {1, 2, 3, 4, 5}} {
		if err := o.Tell(fitness...); !errors.Is(err, ErrTell) {
			t.Errorf("Tell(%v) gives %v, want ErrTell", fitness, err)
		}
	}
	for _, mean := range [][]float32{{1}, {1, 2, float32(math.NaN())}, {}} {
		if err := o.Start(0, mean); !errors.Is(err, ErrState) {
			t.Errorf("Start(%v) gives %v, want ErrState", mean, err)
		}
	}
	other, _ := New("openai-es", Params{"sigma": 0.5}, 3, 4)
	damaged := slices.Clone(before)
	damaged[len(damaged)-1] ^= 0xff
	for _, state := range [][]byte{nil, before[:10], before[:len(before)-1], append(slices.Clone(before), 0), save(t, other), bytes.Repeat([]byte{'x'}, 200)} {
		if err := o.Restore(state); !errors.Is(err, ErrState) {
			t.Errorf("Restore of %d bytes gives %v, want ErrState", len(state), err)
		}
	}
	if !bytes.Equal(before, save(t, o)) {
		t.Error("a refused call changed the optimizer")
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "evoswarm: candidate 4 of 4") {
			t.Errorf("AskOne(4) of 4 panics with %s", p)
		}
	}()
	o.AskOne(4, make1(3))
}

// TestParamTypes checks that numbers of all types mean the same.
func TestParamTypes(t *testing.T) {
	var want []float32
	type real float64
	for i, half := range []any{0.5, float32(0.5), real(0.5)} {
		o, err := New("dises", Params{"sigma": half, "sigma_decay": 1, "sigma_min": uint8(0)}, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Ask()[0].Vector; i == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("sigma as %T gives %v, want %v", half, got, want)
		}
	}
	if p, err := (Params{"x": float32(0.1), "y": math.Copysign(0, -1)}).evolve(); err != nil || p["x"] != 0.1 || math.Signbit(p["y"].(float64)) {
		t.Errorf("got %v, %v, want 0.1 and 0", p, err)
	}
}
