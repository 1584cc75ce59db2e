// Common definitions of the device library: types, bit casts, and the operations that exist on both targets.
//
// The sources are compiled twice: for nvptx64, where the library is embedded in the compiler, and for the host, where
// the tests measure it. `device.h` maps the hardware operations to NVVM intrinsics, `host.h` to models of them.
//
// Three rules apply to every function here, because it becomes part of a kernel:
//   * No memory of their own: no arrays on the stack; tables are constants. The run-time functions access memory of
//     the kernel.
//   * The common path uses selects instead of branches. Only rare slow paths branch, and long ones are calls.
//   * Rounding is explicit: contraction is off, and fused operations are written as such.
#pragma once

typedef unsigned char tl_u8;
typedef unsigned short tl_u16;
typedef unsigned int tl_u32;
typedef unsigned long long tl_u64;
typedef int tl_i32;
typedef long long tl_i64;

#define TL_INLINE static inline __attribute__((always_inline))
#define TL_EXPORT __attribute__((always_inline))
// A function that a kernel calls when a rare argument needs long code.
#define TL_FAR static __attribute__((noinline))
#define TL_ROLLED _Pragma("clang loop unroll(disable)")
#define TL_RARE(condition) __builtin_expect(!!(condition), 0)

#define TL_INF_F32 __builtin_inff()
#define TL_INF_F64 __builtin_inf()
#define TL_NAN_F32 __builtin_nanf("")
#define TL_NAN_F64 __builtin_nan("")

TL_INLINE tl_u32 tl_bits32(float x) { return __builtin_bit_cast(tl_u32, x); }
TL_INLINE float tl_float(tl_u32 x) { return __builtin_bit_cast(float, x); }
TL_INLINE tl_u64 tl_bits64(double x) { return __builtin_bit_cast(tl_u64, x); }
TL_INLINE double tl_double(tl_u64 x) { return __builtin_bit_cast(double, x); }

TL_INLINE float tl_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TL_INLINE double tl_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TL_INLINE float tl_fabsf(float x) { return __builtin_fabsf(x); }
TL_INLINE double tl_fabs(double x) { return __builtin_fabs(x); }
TL_INLINE float tl_copysignf(float x, float s) { return __builtin_copysignf(x, s); }
TL_INLINE double tl_copysign(double x, double s) { return __builtin_copysign(x, s); }
TL_INLINE float tl_sqrtf(float x) { return __builtin_sqrtf(x); }
TL_INLINE double tl_sqrt(double x) { return __builtin_sqrt(x); }
TL_INLINE float tl_truncf(float x) { return __builtin_truncf(x); }
TL_INLINE double tl_trunc(double x) { return __builtin_trunc(x); }

#ifdef __NVPTX__
#include "device.h"
#else
#include "host.h"
#endif

#include "polynomials.h"

// 2^n for n in the range of normal exponents.
TL_INLINE float tl_pow2_f32(tl_i32 n) { return tl_float((tl_u32)(n + 127) << 23); }
TL_INLINE double tl_pow2_f64(tl_i32 n) { return tl_double((tl_u64)(n + 1023) << 52); }

// x * 2^n with one rounding, for x in [1/4, 4] and a result that may overflow or be subnormal. The exponent is
// applied in halves: the first multiplication is exact, so only the second one rounds.
TL_INLINE float tl_scale_f32(float x, tl_i32 n) {
  tl_i32 half = n >> 1;
  return x * tl_pow2_f32(half) * tl_pow2_f32(n - half);
}
TL_INLINE double tl_scale_f64(double x, tl_i32 n) {
  tl_i32 half = n >> 1;
  return x * tl_pow2_f64(half) * tl_pow2_f64(n - half);
}

// A subnormal becomes a zero of its sign.
TL_INLINE float tl_flushed_f32(float x) { return tl_fabsf(x) < 0x1p-126f ? tl_copysignf(0.0f, x) : x; }

// Adding and subtracting this constant rounds to an integer, which is in the low bits of the intermediate sum.
#define TL_ROUND_F32 0x1.8p+23f
#define TL_ROUND_F64 0x1.8p+52
