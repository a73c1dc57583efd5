// What OpenCL C calls of its library, for a host: each is exact, so there is one right answer.
double opencl_sqrt(double x) __asm__("_Z4sqrtd");
double opencl_floor(double x) __asm__("_Z5floord");
double opencl_trunc(double x) __asm__("_Z5truncd");
double opencl_abs(double x) __asm__("_Z4fabsd");
double opencl_copysign(double x, double y) __asm__("_Z8copysigndd");
double opencl_sqrt(double x) { return __builtin_sqrt(x); }
double opencl_floor(double x) { return __builtin_floor(x); }
double opencl_trunc(double x) { return __builtin_trunc(x); }
double opencl_abs(double x) { return __builtin_fabs(x); }
double opencl_copysign(double x, double y) { return __builtin_copysign(x, y); }
