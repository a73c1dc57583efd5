package box2d

// simplexVertex is a pair of support points of the two shapes.
type simplexVertex struct {
	wA, wB, w      Vec2    // in the world; w = wB - wA
	a              float32 // barycentric coordinate of the nearest point
	indexA, indexB int32
}

// simplex is a point, segment or triangle of the Minkowski difference.
type simplex struct {
	v     [3]simplexVertex
	count int32
}

// simplexCache is the part of a simplex that is kept for the next query, possibly at another transform.
type simplexCache struct {
	metric float32
	count  int32
	indexA [3]int32
	indexB [3]int32
}

// support returns the vertex of g that is farthest in direction d.
func (g *Hull) support(d Vec2) int32 {
	best := int32(0)
	value := dot(g.vertices[0], d)
	for i := int32(1); i < g.count; i++ {
		v := dot(g.vertices[i], d)
		if v > value {
			best = i
			value = v
		}
	}
	return best
}

// support returns the vertex of s that is farthest in direction d, in the shape's frame.
func (s *PolygonShape) support(d Vec2) int32 {
	best := int32(0)
	value := dot(s.vertices[0], d)
	for i := int32(1); i < s.count; i++ {
		v := dot(s.vertices[i], d)
		if v > value {
			best = i
			value = v
		}
	}
	return best
}

func (v *simplexVertex) set(g *Hull, s *PolygonShape, xf transform, a float32) {
	v.wA = g.vertices[v.indexA]
	v.wB = mul(xf, s.vertices[v.indexB])
	v.w = sub(v.wB, v.wA)
	v.a = a
}

// read starts from the cache, unless the shapes have moved too far for it to be useful.
func (x *simplex) read(cache *simplexCache, g *Hull, s *PolygonShape, xf transform) {
	x.count = cache.count
	for i := int32(0); i < x.count; i++ {
		v := &x.v[i]
		v.indexA, v.indexB = cache.indexA[i], cache.indexB[i]
		v.set(g, s, xf, 0)
	}
	if x.count > 1 {
		before, now := cache.metric, x.metric()
		if now < float32(0.5*before) || float32(2*before) < now || now < epsilon {
			x.count = 0
		}
	}
	if x.count == 0 {
		v := &x.v[0]
		v.indexA, v.indexB = 0, 0
		v.set(g, s, xf, 1)
		x.count = 1
	}
}

func (x *simplex) write(cache *simplexCache) {
	cache.metric = x.metric()
	cache.count = x.count
	for i := int32(0); i < x.count; i++ {
		cache.indexA[i], cache.indexB[i] = x.v[i].indexA, x.v[i].indexB
	}
}

func (x *simplex) metric() float32 {
	switch x.count {
	case 2:
		return length(sub(x.v[0].w, x.v[1].w))
	case 3:
		return cross(sub(x.v[1].w, x.v[0].w), sub(x.v[2].w, x.v[0].w))
	}
	return 0
}

// direction returns the direction in which to search for the next support point.
func (x *simplex) direction() Vec2 {
	if x.count == 1 {
		return neg(x.v[0].w)
	}
	e := sub(x.v[1].w, x.v[0].w)
	if cross(e, neg(x.v[0].w)) > 0 {
		return Vec2{-e.Y, e.X}
	}
	return right(e)
}

// solve2 reduces a segment to its feature nearest to the origin.
func (x *simplex) solve2() {
	w1, w2 := x.v[0].w, x.v[1].w
	e := sub(w2, w1)
	d2 := -dot(w1, e)
	if d2 <= 0 {
		x.v[0].a = 1
		x.count = 1
		return
	}
	d1 := dot(w2, e)
	if d1 <= 0 {
		x.v[1].a = 1
		x.count = 1
		x.v[0] = x.v[1]
		return
	}
	inv := 1 / (d1 + d2)
	x.v[0].a = float32(d1 * inv)
	x.v[1].a = float32(d2 * inv)
	x.count = 2
}

// edge keeps the vertices i and j with the weights di and dj.
func (x *simplex) edge(i, j int32, di, dj float32) {
	inv := 1 / (di + dj)
	x.v[i].a = float32(di * inv)
	x.v[j].a = float32(dj * inv)
	x.count = 2
}

// corner keeps the vertex i.
func (x *simplex) corner(i int32) {
	x.v[i].a = 1
	x.count = 1
	x.v[0] = x.v[i]
}

// solve3 reduces a triangle to its feature nearest to the origin.
func (x *simplex) solve3() {
	w1, w2, w3 := x.v[0].w, x.v[1].w, x.v[2].w
	e12, e13, e23 := sub(w2, w1), sub(w3, w1), sub(w3, w2)
	d12a, d12b := dot(w2, e12), -dot(w1, e12)
	d13a, d13b := dot(w3, e13), -dot(w1, e13)
	d23a, d23b := dot(w3, e23), -dot(w2, e23)
	n := cross(e12, e13)
	d1, d2, d3 := float32(n*cross(w2, w3)), float32(n*cross(w3, w1)), float32(n*cross(w1, w2))
	switch {
	case d12b <= 0 && d13b <= 0:
		x.corner(0)
	case d12a > 0 && d12b > 0 && d3 <= 0:
		x.edge(0, 1, d12a, d12b)
	case d13a > 0 && d13b > 0 && d2 <= 0:
		x.edge(0, 2, d13a, d13b)
		x.v[1] = x.v[2]
	case d12a <= 0 && d23b <= 0:
		x.corner(1)
	case d13a <= 0 && d23a <= 0:
		x.corner(2)
	case d23a > 0 && d23b > 0 && d1 <= 0:
		x.edge(1, 2, d23a, d23b)
		x.v[0] = x.v[2]
	default:
		inv := 1 / (d1 + d2 + d3)
		x.v[0].a, x.v[1].a, x.v[2].a = float32(d1*inv), float32(d2*inv), float32(d3*inv)
		x.count = 3
	}
}

// distance returns the distance between the hulls of the ground fixture g and of a body's shape s at xf,
// without their skins (the algorithm of Gilbert, Johnson and Keerthi), or 0 if they overlap. It starts from
// cache and updates it.
func distance(cache *simplexCache, g *Hull, s *PolygonShape, xf transform) float32 {
	var x simplex
	x.read(cache, g, s, xf)
	var savedA, savedB [3]int32
	for iteration, done := 0, false; !done && iteration < maxDistanceIterations; iteration++ {
		saved := x.count
		for i := int32(0); i < saved; i++ {
			savedA[i], savedB[i] = x.v[i].indexA, x.v[i].indexB
		}
		switch x.count {
		case 2:
			x.solve2()
		case 3:
			x.solve3()
		}
		if x.count == 3 {
			break
		}
		d := x.direction()
		if dot(d, d) < epsilonSquared {
			break
		}
		v := &x.v[x.count]
		v.indexA = g.support(neg(d))
		v.indexB = s.support(turnBack(xf.q, d))
		v.set(g, s, xf, v.a)
		for i := int32(0); i < saved; i++ {
			done = done || v.indexA == savedA[i] && v.indexB == savedB[i]
		}
		if !done {
			x.count++
		}
	}
	x.write(cache)
	return x.separation()
}

// separation returns the distance of the two nearest points.
func (x *simplex) separation() float32 {
	switch x.count {
	case 1:
		return length(sub(x.v[0].wA, x.v[0].wB))
	case 2:
		a, b := x.v[0].a, x.v[1].a
		pA := add(scale(a, x.v[0].wA), scale(b, x.v[1].wA))
		pB := add(scale(a, x.v[0].wB), scale(b, x.v[1].wB))
		return length(sub(pA, pB))
	}
	return 0
}
