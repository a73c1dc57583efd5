// Package linalg has the dense linear algebra that evolution strategies with a full
// covariance need: the eigenvectors of a symmetric matrix, and its exponential.
//
// A symmetric matrix of order n is its lower triangle row by row: element (i, j),
// j <= i, stands at i(i+1)/2 + j. See [Packed] and [Row].
//
// # Determinism
//
// Class: bit exact. Everything is built from + - * / and square roots in one fixed
// order, each product that feeds a sum is rounded first, and a sum over many terms
// runs in four chains that are joined in one way. No function hangs: the number of
// iterations is bounded.
//
// # Sources
//
// Golub and Van Loan, "Matrix Computations" (2013), section 8.3: Householder
// tridiagonalisation (algorithm 8.3.1) and implicit symmetric shifts (8.3.2), here
// as the QL iteration of Dubrulle, Martin and Wilkinson, "The implicit QL algorithm"
// (1968).
package linalg
