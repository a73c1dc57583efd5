// Package linalg is the dense linear algebra of evolution strategies with a full covariance: the eigenvectors
// of a symmetric matrix, and its exponential.
//
// A symmetric matrix of order n is stored as its lower triangle row by row: element (i, j), j <= i, is at index
// i(i+1)/2 + j. See [Packed] and [Row].
//
// # Determinism
//
// Bit exact. Everything is computed with + - * / and square roots in a fixed order. Each product that feeds a
// sum is rounded first, and long sums run in four chains that are added in a fixed order. Iterations are
// bounded, so no function hangs.
//
// # Sources
//
// Golub and Van Loan, "Matrix Computations" (2013), section 8.3: Householder tridiagonalization (algorithm
// 8.3.1) and implicit symmetric shifts (8.3.2), here as the QL iteration of Dubrulle, Martin and Wilkinson,
// "The implicit QL algorithm" (1968).
package linalg
