package box2d_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs/box2d"
)

// A box falls on an edge, comes to rest and falls asleep.
func Example() {
	filter := box2d.Filter{CategoryBits: 1, MaskBits: box2d.DefaultMask}
	ground := []box2d.Fixture{box2d.EdgeFixture(box2d.Vec2{X: -5}, box2d.Vec2{X: 5}, 0)}
	materials := []box2d.Material{{Friction: 0.5, Filter: filter}}
	contacts := make([]box2d.Contact, 8)
	var w box2d.World
	w.Reset(box2d.Vec2{Y: -10})
	b := w.CreateBody(&box2d.BodyDef{Position: box2d.Vec2{Y: 2}, Shape: box2d.Box(0.5, 0.5), Density: 1, Friction: 0.5, Filter: filter})
	steps := 0
	for w.Bodies[b].Awake() && steps < 1000 {
		w.Step(ground, nil, materials, contacts, 1.0/50, 8, 3)
		steps++
	}
	p := w.Bodies[b].Position()
	fmt.Printf("asleep after %d steps at height %.2f, in contact: %v\n", steps, p.Y, w.Bodies[b].InContact)
	// Output: asleep after 52 steps at height 0.51, in contact: true
}
