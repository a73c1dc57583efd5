// Package semantics has what Go defines and C does not, or defines otherwise. A test runs it in Go and translated.
package semantics

import "math"

type point struct{ x, y int32 }

type box struct {
	corner point
	list   [4]int32
	deep   [2][2]float32
}

type outer struct {
	box
	n int64
}

func (b *box) shift(by int32) int32 {
	b.corner.x += by
	return b.corner.x
}

func (b box) sum() int32 { return b.corner.x + b.corner.y + b.list[0] }

var table = [3]point{{1, 2}, {3, 4}, {5, 6}}

var gears = [4]float64{1, 0.1, -1e300, 5e-324}

// Integers puts results at most len(out) numbers, given two of every width.
func Integers(out []int64, a, b int64) {
	x, y := int32(a), int32(b)
	u, v := uint32(a), uint32(b)
	n := 0
	n = put(out, n, a+b)
	n = put(out, n, a*b)
	n = put(out, n, -a-b)
	n = put(out, n, int64(x+y))
	n = put(out, n, int64(x*y))
	n = put(out, n, int64(-x-1))
	n = put(out, n, int64(u-v))
	n = put(out, n, int64(u*v))
	n = put(out, n, int64(^x&^y))
	n = put(out, n, a<<(uint64(b)&127)|int64(uint16(a)))
	n = put(out, n, a>>(uint64(b)&127))
	n = put(out, n, int64(x<<(v&63)))
	n = put(out, n, int64(x>>(v&63)))
	n = put(out, n, int64(u>>(v&63)))
	n = put(out, n, int64(u<<(v&31)))
	n = put(out, n, int64(uint16(u)*uint16(v)))
	n = put(out, n, int64(-uint16(u))+int64(^uint16(v)))
	n = put(out, n, int64(uint16(u)<<(v&15)|uint16(v)>>3))
	if b != 0 {
		n = put(out, n, a/b)
		n = put(out, n, a%b)
		n = put(out, n, int64(uint64(a)/uint64(b)))
		n = put(out, n, int64(uint64(a)%uint64(b)))
	}
	if y != 0 {
		n = put(out, n, int64(x/y))
		n = put(out, n, int64(x%y))
	}
	n = put(out, n, a/7-a%-3)
	n = put(out, n, min(a, b, 3))
	n = put(out, n, int64(max(x, y)))
	n = put(out, n, int64(min(u, v)))
	x, y = y, x
	n = put(out, n, int64(x-y))
	n = put(out, n, math.MinInt64+a)
	put(out, n, math.MaxInt32*int64(x))
}

func put(out []int64, n int, x int64) int {
	out[n] = x
	return n + 1
}

// Floats does the same for floats.
func Floats(out []float64, a, b float64) {
	x, y := float32(a), float32(b)
	out[0] = min(a, b)
	out[1] = max(a, b)
	out[2] = float64(min(x, y))
	out[3] = float64(max(x, y))
	out[4] = float64(a*b) + a
	out[5] = float64(float32(x*y) + y)
	out[6] = a / b
	out[7] = math.Sqrt(math.Abs(a))
	out[8] = math.Floor(b)
	out[9] = math.Trunc(b)
	out[10] = math.Copysign(a, b)
	out[11] = float64(math.Float32frombits(math.Float32bits(x) ^ 1))
	out[12] = math.Float64frombits(math.Float64bits(b) ^ 1)
	out[13] = gears[2] * gears[3]
	out[14] = 0.1 + 0.2 + a
	out[15] = -a
	out[16] = float64(x) - float64(1.0/3)
	out[17] = math.Inf(-1) + a
	if a < b && !(a >= 0) || a != a {
		out[18] = 1
	}
	if clipped := min(max(b, -2e9), 2e9); clipped == clipped {
		out[19] = float64(int32(clipped))
		out[20] = float64(int64(clipped * 1e9))
	}
}

// Statements puts what statements compute.
func Statements(out []int64, a int64) {
	n := 0
	// A variable of an inner scope may be made of the outer one.
	x := a
	{
		x := x + 1
		n = put(out, n, x)
	}
	if x := x * 3; x > 10 {
		n = put(out, n, x)
	} else if y := x + 1; y > 0 {
		n = put(out, n, y)
	}
	// Arrays and structs are copied.
	b := box{corner: point{1, 2}, list: [4]int32{5, 6}}
	c := b
	c.list[1] = int32(a)
	c.deep[1] = [2]float32{1, 2}
	n = put(out, n, int64(b.list[1]+c.list[1])+int64(c.deep[1][1]+b.deep[1][1]))
	o := outer{box: b}
	o.shift(3)
	n = put(out, n, int64(o.sum()+o.corner.x))
	for i, p := range table {
		n = put(out, n, int64(p.x*p.y)+int64(i))
	}
	d := b.list
	for i, v := range d { // of a copy
		d[3-i] = v + 1
	}
	n = put(out, n, int64(d[0]+10*d[1]+100*d[2]+1000*d[3]))
	e := &b.list
	for i := range e {
		e[i] += int32(i)
	}
	n = put(out, n, int64(b.list[3]))
	for range 3 {
		n = put(out, n, 7)
	}
	for i := range int32(a & 3) {
		n = put(out, n, int64(i))
	}
	// copy moves, also if its slices overlap.
	var room [8]int32
	for i := range room {
		room[i] = int32(i)
	}
	copy(room[2:], room[:5])
	copy(room[:3], room[1:])
	for _, v := range room[1:7] {
		n = put(out, n, int64(v))
	}
	s := room[2:6]
	s = s[1:3]
	n = put(out, n, int64(len(s))*100+int64(s[1]))
	s[0] = 77
	n = put(out, n, int64(room[3]))
	s = nil
	n = put(out, n, int64(len(s)))
	// switch, and break of it in a loop.
	for i := int64(0); i < 6; i++ {
		switch i + a {
		case 2, 3:
			n = put(out, n, 23)
		case 4:
			if i > 1 {
				break
			}
			n = put(out, n, 4)
		default:
			if i == 5 {
				continue
			}
			n = put(out, n, -i)
		}
	}
	switch {
	case a < 0:
		n = put(out, n, 1)
	case len(room) > 3 && room[int(a)&7] > 2:
		n = put(out, n, 2)
	}
	// The right side of && runs only if the left one says so.
	var k box
	if a > 2 && k.shift(1) > 0 || k.shift(10) > 100 {
		n = put(out, n, 5)
	}
	n = put(out, n, int64(k.corner.x))
	for i := 0; i < len(room) && turned(room[i]).y < 5; i++ {
		n = put(out, n, int64(turned(room[i]).x))
	}
	q, r := divide(a, 3)
	n = put(out, n, q*10+r)
	n = put(out, n, early(a))
	q, r = r, q
	put(out, n, q-r)
}

func turned(v int32) point { return point{-v, v} }

func divide(a, b int64) (q, r int64) {
	q = a / b
	r = a % b
	return
}

func early(a int64) (x int64) {
	x = 3
	if a > 5 {
		return a
	}
	x++
	return x
}
