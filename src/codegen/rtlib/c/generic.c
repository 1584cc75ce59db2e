// The functions with the same source for both types: pow, atan2 and the remainder.

// log2 of a positive number, rounded down.
TL_INLINE tl_i32 tl_remf_exponent_f32(float x) {
  tl_u32 bits = tl_bits32(x);
  return bits >= 0x00800000u ? (tl_i32)(bits >> 23) - 127 : -118 - __builtin_clz(bits | 1);
}
TL_INLINE tl_i32 tl_remf_exponent_f64(double x) {
  tl_u64 bits = tl_bits64(x);
  return bits >> 52 ? (tl_i32)(bits >> 52) - 1023 : -1011 - (tl_i32)__builtin_clzll(bits | 1);
}
// x * 2^k, for any k >= 0 for which the result does not overflow.
TL_INLINE float tl_remf_scale_f32(float x, tl_i32 k) {
  tl_i32 half = k >> 1;
  return x * tl_pow2_f32(half) * tl_pow2_f32(k - half);
}
TL_INLINE double tl_remf_scale_f64(double x, tl_i32 k) {
  tl_i32 third = k >> 2;
  return x * tl_pow2_f64(third) * tl_pow2_f64(third) * tl_pow2_f64(third) * tl_pow2_f64(k - 3 * third);
}

#define T float
#define F(name) name##_f32
#define C(number) number##f
#define FMA tl_fmaf
#define ABS tl_fabsf
#define TRUNC tl_truncf
#define COPYSIGN tl_copysignf
#define BITS tl_bits32
#define FROM_BITS tl_float
#define UINT tl_u32
#define INT tl_i32
#define MANTISSA 23
#define PRECISION 24
#define TWO_PRECISION 0x1p+24f
#define MIN_NORMAL 0x1p-126f
#define EXPONENT_OF(bits) ((tl_i32)((bits)-0x3f3504f3u) >> 23)
#define INTEGER_OF(shifted) ((tl_i32)(tl_bits32(shifted) << 10) >> 10)
#define ROUND TL_ROUND_F32
#define POW_LIMIT 200.0f
#define INF TL_INF_F32
#define NOT_A_NUMBER TL_NAN_F32
#define LOG2E_HI LOG2E_F32_HI
#define LOG2E_LO LOG2E_F32_LO
#define LN2_HI LN2_F32_HI
#define LN2_LO LN2_F32_LO
#define THIRD_HI THIRD_F32_HI
#define THIRD_LO THIRD_F32_LO
#define PI_HI PI_F32_HI
#define PI_LO PI_F32_LO
#define DIV_RZ tl_div_rz
#define STEP 0x1p+24f
#include "pow.inc"
#include "atan2.inc"
#include "remainder.inc"
#undef T
#undef F
#undef C
#undef FMA
#undef ABS
#undef TRUNC
#undef COPYSIGN
#undef BITS
#undef FROM_BITS
#undef UINT
#undef INT
#undef MANTISSA
#undef PRECISION
#undef TWO_PRECISION
#undef MIN_NORMAL
#undef EXPONENT_OF
#undef INTEGER_OF
#undef ROUND
#undef POW_LIMIT
#undef INF
#undef NOT_A_NUMBER
#undef LOG2E_HI
#undef LOG2E_LO
#undef LN2_HI
#undef LN2_LO
#undef THIRD_HI
#undef THIRD_LO
#undef PI_HI
#undef PI_LO
#undef DIV_RZ
#undef STEP

#define T double
#define F(name) name##_f64
#define C(number) number
#define FMA tl_fma
#define ABS tl_fabs
#define TRUNC tl_trunc
#define COPYSIGN tl_copysign
#define BITS tl_bits64
#define FROM_BITS tl_double
#define UINT tl_u64
#define INT tl_i32
#define MANTISSA 52
#define PRECISION 53
#define TWO_PRECISION 0x1p+53
#define MIN_NORMAL 0x1p-1022
#define EXPONENT_OF(bits) ((tl_i32)((tl_u32)((bits) >> 32) - 0x3fe6a09eu) >> 20)
#define INTEGER_OF(shifted) ((tl_i32)tl_bits64(shifted))
#define ROUND TL_ROUND_F64
#define POW_LIMIT 1200.0
#define INF TL_INF_F64
#define NOT_A_NUMBER TL_NAN_F64
#define LOG2E_HI LOG2E_F64_HI
#define LOG2E_LO LOG2E_F64_LO
#define LN2_HI LN2_F64_HI
#define LN2_LO LN2_F64_LO
#define THIRD_HI THIRD_F64_HI
#define THIRD_LO THIRD_F64_LO
#define PI_HI PI_F64_HI
#define PI_LO PI_F64_LO
#define DIV_RZ tl_div_rz_f64
#define STEP 0x1p+53
#include "pow.inc"
#include "atan2.inc"
#include "remainder.inc"
