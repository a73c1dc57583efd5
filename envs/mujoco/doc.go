// Package mujoco is what the worlds of MuJoCo share: the part of MuJoCo's engine that does not depend on the model.
//
// # Where the engine is
//
// A world's model never changes, so the engine is unrolled for it: unroll.py reads the compiled models (models.json,
// which compile.py makes with MuJoCo itself) and writes files of each world's package. There, kinematics, inertia,
// bias forces, rows of constraints and the factorizations are written out for this one tree of bodies: what is zero or
// one in the model costs nothing, and nothing is copied or cleared that the model does not have. Names are MuJoCo's. Of
// the two large models, Ant and Humanoid, what is the same for each body stays in loops: more code than the processor's
// caches hold would be slower.
//
// # What there is
//
// Trees of bodies with free, slide and hinge joints; springs, dampers, armature; motors at joints; the fluid model by
// boxes of inertia; limits of joints; contacts of plane, sphere and capsule from a list of pairs known beforehand,
// with pyramids of friction or without friction; Newton's method and projected Gauss-Seidel with warm start; Euler's
// method with implicit damping, and Runge-Kutta's of fourth order; forces of contacts on bodies.
//
// # Rules
//
// Physics changed between versions of MuJoCo. The rules are a property of a world: [Rules40] is what MuJoCo 4.0 does,
// [Rules35] what 3.5 does, [Rules33] what 3.3.7 and 3.4 do.
//
// # Order
//
// Sums are in MuJoCo's order. Terms that are zero in a model are left out, and factors that are one: the same bits, but
// for the sign of zeros, which nothing here distinguishes. Sine and cosine are those of internal/exact, whose last bit
// may differ from that of the C library under MuJoCo.
//
// Everything is bit exact and in the kernel subset of Go.
package mujoco
