//go:build !js

package store

import (
	"strings"
	"testing"
)

// BenchmarkRunSave appends generations, as a node that follows a run does. bytes/gen is what the folder grows by.
func BenchmarkRunSave(b *testing.B) {
	rules := newRules(b, 6, false)
	all := grow(b, rules, nil, newKey("a"), 500)
	size := func(dir string) (n int) {
		for name, data := range files(b, dir) {
			if !strings.HasSuffix(name, stateSuffix) { // its two slots do not grow
				n += len(data)
			}
		}
		return n
	}
	var d *Disk
	var r *Run
	var dir string
	saved, grown, empty := 0, 0, 0
	closeRun := func() {
		if r != nil {
			r.Close()
			grown += size(dir) - empty
			d.Close()
		}
	}
	for b.Loop() {
		h := saved % len(all)
		if h == 0 {
			b.StopTimer()
			closeRun()
			dir = b.TempDir()
			d, r = openRun(b, dir, rules)
			empty = size(dir)
			b.StartTimer()
		}
		if err := r.Save(move(uint64(h), "state", all[h])); err != nil {
			b.Fatal(err)
		}
		saved++
	}
	closeRun()
	b.ReportMetric(float64(grown)/float64(saved), "bytes/gen")
}

// BenchmarkRunOpen opens a run of 500 generations.
func BenchmarkRunOpen(b *testing.B) {
	rules := newRules(b, 6, false)
	dir := b.TempDir()
	d, r := openRun(b, dir, rules)
	if err := r.Save(move(0, "state", grow(b, rules, nil, newKey("a"), 500)...)); err != nil {
		b.Fatal(err)
	}
	r.Close()
	d.Close()
	for b.Loop() {
		d, r := openRun(b, dir, rules)
		r.Close()
		d.Close()
	}
}
