#include "textflag.h"

// func axpy(a, x, y float32) float32
TEXT ·axpy(SB), NOSPLIT, $0-20
	MOVSS a+0(FP), X0
	MOVSS x+4(FP), X1
	MOVSS y+8(FP), X2
	// VFMADD231SS X0, X1, X2
	BYTE $0xc4
	BYTE $0xe2
	BYTE $0x71
	BYTE $0xb9
	BYTE $0xd0
	MOVSS X2, ret+16(FP)
	RET
