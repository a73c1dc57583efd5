// Package box2d is the rigid-body engine of the LunarLander and BipedalWalker worlds: the part of Box2D 2.3
// that they use, bit for bit as the C++ engine computes it.
//
// The reference is the C++ source inside pybox2d 2.3.10, on which Gymnasium runs, built for x86-64 without
// fused multiply-add, with the sinf and cosf of glibc. Names, constants, order of operations and order of
// lists are the reference's, so that whole episodes come out with the same bits. Zeros are the exception:
// velocities and impulses that are 0 are always +0 here. No operation of the engine tells +0 from -0.
//
// # What there is
//
// Dynamic bodies with one convex polygon each, revolute joints with motor and limit, and a static ground of
// edges and convex polygons. Islands sleep, contacts start warm, penetration is corrected, and fast bodies
// are stopped at the ground by continuous collision. Dynamic bodies do not collide with each other: in both
// worlds their masks forbid it, and without it every contact is between the fixed ground and one body, which
// halves its cost and its size.
//
// # State
//
// A [World] is one flat value without pointers that = copies: bodies and joints. Its owner holds the contacts
// next to it, in an array of [Contact] that is as long as its scene needs, and the ground, which does not change
// during an episode: an array of [Fixture], one of [Hull] for its polygons, and a few values of [Material], which
// need not be kept. It passes slices of them to [World.Step] and [RayCast]. Fixtures, bodies and joints must be
// made in the order in which the reference's proxies, bodies and joints are made, the ground first.
//
// Everything is bit exact and, but for state.go, written in the kernel subset of Go (docs/spec/numerics.md).
package box2d
