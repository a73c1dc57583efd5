// Calls the translation of testdata/semantics with the arguments on standard input and prints what it puts.
#include <stdio.h>
#include <string.h>
#include SEMANTICS

int main(void) {
  i64 a, b, out[64];
  while (scanf("%lld %lld", &a, &b) == 2) {
    f64 reals[64];
    memset(out, 0, sizeof out);
    semantics_Integers((slice_i64){out, 64}, a, b);
    for (int i = 0; i < 64; i++) printf("%lld ", out[i]);
    memset(reals, 0, sizeof reals);
    semantics_Floats((slice_f64){reals, 64}, go_f64from((u64)a), go_f64from((u64)b));
    for (int i = 0; i < 64; i++) printf("%016llx ", go_f64bits(reals[i]));
    memset(out, 0, sizeof out);
    semantics_Statements((slice_i64){out, 64}, a & 15);
    for (int i = 0; i < 64; i++) printf("%lld ", out[i]);
    printf("\n");
  }
  return 0;
}
