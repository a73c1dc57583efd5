#include "textflag.h"

// func axpy(a, x, y float32) float32
TEXT ·axpy(SB), NOSPLIT, $0-20
	FMOVS a+0(FP), F0
	FMOVS x+4(FP), F1
	FMOVS y+8(FP), F2
	WORD $0x0e21cc02 // fmla v2.2s, v0.2s, v1.2s
	FMOVS F2, ret+16(FP)
	RET
