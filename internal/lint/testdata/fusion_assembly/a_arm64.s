#include "textflag.h"

// func axpy(a, x, y float32) float32. VFMLA in a comment is not code.
TEXT ·axpy(SB), NOSPLIT, $0-20
	FMOVS a+0(FP), F0
	FMOVS x+4(FP), F1
	FMOVS y+8(FP), F2
	VFMLA V1.S2, V0.S2, V2.S2 // want: fused instruction VFMLA
	FMOVS F2, ret+16(FP)
	RET
