package main

// few computes a layer of one to three outputs. The weights of four inputs fill that many vectors without a
// gap; so lanes run across chains and outputs at once: lane i of them holds output i mod outputs of chain i /
// outputs.
func (l *layer) few(outputs int) {
	var sums []local
	for range outputs {
		sums = append(sums, l.let(v128, constant(0)))
	}
	groups := l.let(i32, i32ShrU(l.inputs.value(), number(2)))
	l.when(groups.value(), func() {
		l.times(groups, func() {
			x := l.let(v128, load128(l.x.value(), 0))
			for j, s := range sums {
				var of [4]byte // the input that each lane needs
				for i := range of {
					of[i] = byte((4*j + i) / outputs)
				}
				value := x.value()
				if outputs > 1 {
					value = shuffle(x.value(), x.value(), of[:]...)
				}
				l.set(s, plus(s.value(), times(value, load128(l.w.value(), 16*j))))
			}
			l.add(l.x, number(4*chains))
			l.add(l.w, number(int32(16*outputs)))
		})
	})

	// A vector for each chain, its lanes the outputs; what is in the other lanes does not matter.
	var chain [chains]local
	for k := range chain {
		chain[k] = l.let(v128, gather(sums, k*outputs, outputs))
	}
	rest := l.let(i32, i32And(l.inputs.value(), number(chains-1)))
	for k := range chains - 1 {
		l.when(i32MoreU(rest.value(), number(int32(k))), func() {
			product := times(loadSplat(l.x.value(), 4*k), part(l.w.value(), 4*k*outputs, outputs))
			l.set(chain[k], plus(chain[k].value(), product))
		})
	}
	low, high := plus(chain[0].value(), chain[1].value()), plus(chain[2].value(), chain[3].value())
	y := l.let(v128, plus(low, high))
	l.when(l.b.value(), func() { l.set(y, plus(y.value(), part(l.b.value(), 0, outputs))) })
	if outputs == 1 {
		l.storeLane(storeLane32, l.y.value(), 0, y.value(), 0)
		return
	}
	l.storeLane(storeLane64, l.y.value(), 0, y.value(), 0)
	if outputs == 3 {
		l.storeLane(storeLane32, l.y.value(), 8, y.value(), 2)
	}
}

// gather takes n lanes one after the other, from a place on, out of vectors that lie side by side.
func gather(v []local, from, n int) expr {
	a, b := from/4, min(from/4+1, len(v)-1)
	var lanes [4]byte
	for i := range lanes {
		at := from + min(i, n-1)
		lanes[i] = byte(at % 4)
		if at/4 != a {
			lanes[i] += 4
		}
	}
	return shuffle(v[a].value(), v[b].value(), lanes[:]...)
}

// part reads one to three values into the first lanes.
func part(at expr, offset, n int) expr {
	switch n {
	case 1:
		return load(vector(loadZero32), at, offset)
	case 2:
		return load(vector(loadZero64), at, offset)
	}
	pair := load(vector(loadZero64), at, offset)
	return append(load(vector(loadLane32), concat(at, pair), offset+8), 2)
}
