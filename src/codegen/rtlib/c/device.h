// Hardware operations of the nvptx64 target.
#pragma once

#define TL_TABLE static const __attribute__((address_space(4)))
#define TL_GLOBAL __attribute__((address_space(1)))

// 2^x, at most 2 units in the last place off; the ftz form flushes subnormal inputs and results.
TL_INLINE float tl_ex2_approx(float x) { return __nvvm_ex2_approx_f(x); }
TL_INLINE float tl_ex2_approx_ftz(float x) { return __nvvm_ex2_approx_ftz_f(x); }
TL_INLINE float tl_rcp_approx_ftz(float x) { return __nvvm_rcp_approx_ftz_f(x); }
TL_INLINE float tl_rsqrt_approx(float x) { return __nvvm_rsqrt_approx_f(x); }
TL_INLINE float tl_rsqrt_approx_ftz(float x) { return __nvvm_rsqrt_approx_ftz_f(x); }
TL_INLINE float tl_sqrt_approx(float x) { return __nvvm_sqrt_approx_f(x); }
TL_INLINE float tl_sqrt_approx_ftz(float x) { return __nvvm_sqrt_approx_ftz_f(x); }
TL_INLINE float tl_div_approx(float a, float b) { return __nvvm_div_approx_f(a, b); }
TL_INLINE float tl_div_approx_ftz(float a, float b) { return __nvvm_div_approx_ftz_f(a, b); }
TL_INLINE double tl_rsqrt_seed(double x) {
  double y;
  __asm__("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

// LLVM 21 lacks intrinsics for these. The assembly has no side effects, so LLVM can schedule and remove it freely.
TL_INLINE float tl_div_full(float a, float b) {
  float q;
  __asm__("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
  return q;
}
TL_INLINE float tl_div_full_ftz(float a, float b) {
  float q;
  __asm__("div.full.ftz.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
  return q;
}
TL_INLINE float tl_tanh_approx(float x) {
  float y;
  __asm__("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// a * b + c clamped to [0, 1]; NaN becomes 0.
TL_INLINE float tl_fma_sat(float a, float b, float c) {
  float y;
  __asm__("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
  return y;
}

#define TL_DIRECTED(mode, letter)                                                                                      \
  TL_INLINE float tl_add_##mode(float a, float b) { return __nvvm_add_##mode##_f(a, b); }                              \
  TL_INLINE float tl_mul_##mode(float a, float b) { return __nvvm_mul_##mode##_f(a, b); }                              \
  TL_INLINE float tl_fma_##mode(float a, float b, float c) { return __nvvm_fma_##mode##_f(a, b, c); }                  \
  TL_INLINE float tl_div_##mode(float a, float b) { return __nvvm_div_##mode##_f(a, b); }                              \
  TL_INLINE float tl_sqrt_##mode(float a) { return __nvvm_sqrt_##mode##_f(a); }                                        \
  TL_INLINE tl_u16 tl_f16_##mode(float a) {                                                                            \
    tl_u16 y;                                                                                                          \
    __asm__("cvt." #mode ".f16.f32 %0, %1;" : "=h"(y) : "f"(a));                                                       \
    return y;                                                                                                          \
  }
TL_DIRECTED(rz, z)
TL_DIRECTED(rm, m)
TL_DIRECTED(rp, p)
#undef TL_DIRECTED

TL_INLINE double tl_div_rz_f64(double a, double b) { return __nvvm_div_rz_d(a, b); }
TL_INLINE float tl_f64_to_f32_rz(double x) { return __nvvm_d2f_rz(x); }
TL_INLINE float tl_i32_to_f32_rz(tl_i32 x) { return __nvvm_i2f_rz(x); }
TL_INLINE float tl_u32_to_f32_rz(tl_u32 x) { return __nvvm_ui2f_rz(x); }
TL_INLINE float tl_i64_to_f32_rz(tl_i64 x) { return __nvvm_ll2f_rz(x); }
TL_INLINE float tl_u64_to_f32_rz(tl_u64 x) { return __nvvm_ull2f_rz(x); }
TL_INLINE tl_u64 tl_mulhi_u64(tl_u64 a, tl_u64 b) { return __nvvm_mulhi_ull(a, b); }

// The driver's function; its name belongs to another function in C.
int tl_vprintf(const char *format, void *arguments) __asm__("vprintf");

// Synchronization between CTAs. Clang 21 cannot name the scope of a GPU: its atomics would order the whole system.
TL_INLINE tl_u32 tl_load_acquire(TL_GLOBAL tl_u32 *p) {
  tl_u32 v;
  __asm__ volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
TL_INLINE void tl_store_release(TL_GLOBAL tl_u32 *p, tl_u32 v) {
  __asm__ volatile("st.release.gpu.global.b32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}
// Replaces a value if it is `expected`; returns the old one.
#define TL_SWAP(order)                                                                                                 \
  TL_INLINE tl_u32 tl_swap_##order(TL_GLOBAL tl_u32 *p, tl_u32 expected, tl_u32 v) {                                   \
    tl_u32 old;                                                                                                        \
    __asm__ volatile("atom." #order ".gpu.global.cas.b32 %0, [%1], %2, %3;"                                            \
                     : "=r"(old)                                                                                       \
                     : "l"(p), "r"(expected), "r"(v)                                                                   \
                     : "memory");                                                                                      \
    return old;                                                                                                        \
  }
TL_SWAP(relaxed)
TL_SWAP(acquire)
#undef TL_SWAP
