// Package exact computes elementary functions whose results have the same bits
// on every target: amd64 (v1 and v3), arm64, riscv64, ppc64le, s390x and js/wasm.
//
// Floor 0, numbers: floors 0 to 6 import it.
//
// Go's math package does not guarantee that: Exp, Log and Hypot are assembly on some processors, and the
// compiler may fuse x*y + z into one operation with one rounding. Here everything is computed with + - * /
// and sqrt, which IEEE 754 defines to the last bit, and every product that feeds a sum is wrapped in an
// explicit conversion, which the language says must round.
//
// # Determinism
//
// Every function is bit exact for every argument, including NaN results. A NaN argument gives the quiet NaN
// 0x7ff8000000000001 (float32: 0x7fc00000); only Abs and Copysign keep the payload, since they change the
// sign bit alone. Arithmetic of callers on NaN gives different NaN bits on different processors, so a NaN
// must still never reach a digest.
//
// # Accuracy
//
// Each doc comment states a bound on the error in units in the last place (ulp) of the true result, held by
// TestUlp against 200-bit and longer arithmetic. Special values (NaN, infinities, signed zeros, overflow,
// underflow) are those of C99, Annex F.
//
// # Sources
//
// Sin, Cos, Tan, Asin, Acos, Atan, Exp, Log and Pow use reductions and minimax coefficients of fdlibm 5.3:
// "Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun
// Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely
// granted, provided that this notice is preserved." Sin32 and Cos32 use those of Arm's optimized-routines
// (MIT license), which glibc has used since 2.28. The rational of Tanh near zero is that of the Cephes
// library by S. Moshier.
package exact
