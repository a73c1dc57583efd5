// What programs for devices add to prelude.h. They are OpenCL C 1.2; clang makes PTX of the same text, where instructions
// take the place of OpenCL's functions.
#undef FN
#undef ROOT
#undef INLINE
#define VALUE
#define FN static
#define ROOT static
#define INLINE static inline
#ifdef __NVPTX__
// NVIDIA's compiler of PTX (ptxas 12.8 to 13.0 from -O2 on, for sm_80 and later) takes the results of two calls of a function for
// equal, so no call may return a value: these functions are inlined. So are the layers of a policy (INLINE): twice as fast.
#undef VALUE
#define VALUE __attribute__((always_inline))
#undef INLINE
#define INLINE static VALUE
#undef go_sqrt
#undef go_floor
#undef go_trunc
#undef go_abs
#undef go_copysign
#define go_sqrt(x) __nvvm_sqrt_rn_d(x)
#define go_floor(x) __nvvm_floor_d(x)
#define go_trunc(x) __nvvm_trunc_d(x)
#define go_abs(x) __nvvm_fabs_d(x)
#define go_copysign(x, y) as_double((as_ulong((f64)(x)) & 0x7ffffffffffffffful) | (as_ulong((f64)(y)) & 0x8000000000000000ul))
#define ROOT32(x) __nvvm_sqrt_rn_f(x)
#define LANE ((int)__nvvm_read_ptx_sreg_tid_x())
#define LANES ((int)__nvvm_read_ptx_sreg_ntid_x())
#define TEAM ((i64)__nvvm_read_ptx_sreg_ctaid_x())
#define BARRIER __syncthreads()
// A launch says how much local memory a group has. OpenCL passes it as an argument; PTX has a name for it.
__asm__(".extern .shared .align 16 .b8 pool[];");
#define POOL
#define POOL_HERE \
  u64 place;      \
  __asm__("mov.u64 %0, pool;" : "=l"(place)); \
  __local f64 *pool = (__local f64 *)place
#define ITEM ((u64)__nvvm_read_ptx_sreg_ctaid_x() * (u64)__nvvm_read_ptx_sreg_ntid_x() + (u64)__nvvm_read_ptx_sreg_tid_x())
#else
#define ROOT32(x) sqrt((f32)(x))
#define LANE ((int)get_local_id(0))
#define LANES ((int)get_local_size(0))
#define TEAM ((i64)get_group_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define POOL , __local f64 *pool
#define POOL_HERE
#define ITEM ((u64)get_global_id(0))
#endif
