#include "textflag.h"

// func axpy(a, x, y float32) float32. VFMADD231SS in a comment is not code.
TEXT ·axpy(SB), NOSPLIT, $0-20
	MOVSS a+0(FP), X0
	MOVSS x+4(FP), X1
	MOVSS y+8(FP), X2
	MULSS X0, X1
	ADDSS X1, X2
	VFMADD231SS X0, X1, X2 // want: fused instruction VFMADD231SS
	MOVSS X2, ret+16(FP)
	RET
