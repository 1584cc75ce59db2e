// Conversions between number formats, for targets without instructions for them.
//
// Formats (sign, exponent, mantissa bits): f16 (1, 5, 10), bf16 (1, 8, 7), tf32 (1, 8, 10, in the high 19 bits of a
// word), e4m3 (1, 4, 3; no infinity, one NaN code per sign), e5m2 (1, 5, 2; IEEE), e2m1 (1, 2, 1; neither infinity
// nor NaN), e8m0 (unsigned powers of two from 2^-127, 0xff is NaN).
//
// Narrowing rounds to nearest even. A number beyond the largest one becomes infinity, or NaN in formats without
// infinity. The `_sat` forms give the largest number instead, like the `.satfinite` instructions. e2m1 always
// saturates, and its NaN is the largest number, as in hardware.
//
// Anything wider than f32 passes through an f32 rounded to odd: towards zero, with the last bit set if anything was
// lost. That bit prevents false ties, so the second rounding gives the result of a single rounding, as long as f32
// has two more bits than the result, including subnormals. It has at least thirteen more.

TL_INLINE float tl_odd(float truncated, int inexact) {
  return tl_float(tl_bits32(truncated) | (tl_u32)inexact);
}
TL_INLINE float tl_odd_f32(float x) { return x; }
TL_INLINE float tl_odd_f64(double x) {
  float f = tl_f64_to_f32_rz(x);
  // NaN compares unequal and stays a NaN.
  return tl_odd(f, (double)f != x);
}
TL_INLINE float tl_odd_i32(tl_i32 x) {
  float f = tl_i32_to_f32_rz(x);
  return tl_odd(f, (tl_i32)f != x);
}
TL_INLINE float tl_odd_u32(tl_u32 x) {
  float f = tl_u32_to_f32_rz(x);
  return tl_odd(f, (tl_u32)f != x);
}
TL_INLINE float tl_odd_i64(tl_i64 x) {
  float f = tl_i64_to_f32_rz(x);
  return tl_odd(f, (tl_i64)f != x);
}
TL_INLINE float tl_odd_u64(tl_u64 x) {
  float f = tl_u64_to_f32_rz(x);
  return tl_odd(f, (tl_u64)f != x);
}

#define TL_ABS_MASK 0x7fffffffu
#define TL_INF_BITS 0x7f800000u

// The magnitude of x with `mantissa` bits and exponent bias `bias`, rounded to nearest even, ignoring overflow. A
// normal result is rounded on the bits of the f32. For a subnormal one, adding a number with a last place equal to
// the format's smallest step leaves the result in the low bits.
TL_INLINE tl_u32 tl_narrow_magnitude(tl_u32 magnitude, int mantissa, int bias) {
  int drop = 23 - mantissa;
  tl_u32 odd = (magnitude >> drop) & 1u;
  tl_u32 rounded = magnitude + odd + ((1u << (drop - 1)) - 1u);
  tl_u32 normal = (rounded >> drop) - ((tl_u32)(127 - bias) << mantissa);
  tl_u32 magic = (tl_u32)(127 + 1 - bias + drop) << 23;
  tl_u32 subnormal = tl_bits32(tl_float(magnitude) + tl_float(magic)) - magic;
  return magnitude < ((tl_u32)(127 + 1 - bias) << 23) ? subnormal : normal;
}

TL_INLINE tl_u8 tl_narrow_e4m3(float x, int saturate) {
  tl_u32 bits = tl_bits32(x), magnitude = bits & TL_ABS_MASK;
  tl_u32 code = tl_narrow_magnitude(magnitude, 3, 7);
  tl_u32 limit = saturate ? 0x7eu : 0x7fu;
  code = code > 0x7eu || magnitude >= 0x44000000u ? limit : code;  // From 512 up the exponent has left the format.
  code = magnitude > TL_INF_BITS ? 0x7fu : code;
  return (tl_u8)(code | ((bits >> 24) & 0x80u));
}

TL_INLINE tl_u8 tl_narrow_e5m2(float x, int saturate) {
  tl_u32 bits = tl_bits32(x), magnitude = bits & TL_ABS_MASK;
  tl_u32 code = tl_narrow_magnitude(magnitude, 2, 15);
  tl_u32 limit = saturate ? 0x7bu : 0x7cu;
  code = code > 0x7bu ? limit : code;
  code = magnitude > TL_INF_BITS ? 0x7fu : code;
  return (tl_u8)(code | ((bits >> 24) & 0x80u));
}

TL_INLINE tl_u8 tl_narrow_e2m1(float x) {
  tl_u32 bits = tl_bits32(x), magnitude = bits & TL_ABS_MASK;
  tl_u32 code = tl_narrow_magnitude(magnitude, 1, 1);
  code = code > 7u ? 7u : code;
  tl_u32 sign = magnitude > TL_INF_BITS ? 0u : (bits >> 28) & 8u;
  return (tl_u8)(code | sign);
}

TL_INLINE tl_u16 tl_narrow_f16(float x) { return __builtin_bit_cast(tl_u16, (_Float16)x); }

TL_INLINE tl_u16 tl_narrow_bf16(float x) {
  tl_u32 bits = tl_bits32(x);
  tl_u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (tl_u16)((bits & TL_ABS_MASK) > TL_INF_BITS ? 0x7fffu : rounded);
}

TL_INLINE tl_u32 tl_rounded_tf32(tl_u32 bits) { return (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u; }
TL_INLINE tl_u32 tl_narrow_tf32(float x) {
  tl_u32 bits = tl_bits32(x);
  return (bits & TL_ABS_MASK) > TL_INF_BITS ? 0x7fffe000u : tl_rounded_tf32(bits);
}

#define TL_NARROW_FROM(source, type)                                                                                   \
  TL_EXPORT tl_u8 __tileir_##source##_to_e4m3(type x) { return tl_narrow_e4m3(tl_odd_##source(x), 0); }                \
  TL_EXPORT tl_u8 __tileir_##source##_to_e4m3_sat(type x) { return tl_narrow_e4m3(tl_odd_##source(x), 1); }            \
  TL_EXPORT tl_u8 __tileir_##source##_to_e5m2(type x) { return tl_narrow_e5m2(tl_odd_##source(x), 0); }                \
  TL_EXPORT tl_u8 __tileir_##source##_to_e5m2_sat(type x) { return tl_narrow_e5m2(tl_odd_##source(x), 1); }            \
  TL_EXPORT tl_u8 __tileir_##source##_to_e2m1(type x) { return tl_narrow_e2m1(tl_odd_##source(x)); }                   \
  TL_EXPORT tl_u16 __tileir_##source##_to_f16(type x) { return tl_narrow_f16(tl_odd_##source(x)); }                    \
  TL_EXPORT tl_u16 __tileir_##source##_to_bf16(type x) { return tl_narrow_bf16(tl_odd_##source(x)); }
#define TL_TF32_FROM(source, type)                                                                                     \
  TL_EXPORT tl_u32 __tileir_##source##_to_tf32(type x) { return tl_narrow_tf32(tl_odd_##source(x)); }
TL_NARROW_FROM(f32, float)
TL_NARROW_FROM(f64, double)
TL_NARROW_FROM(i32, tl_i32)
TL_NARROW_FROM(u32, tl_u32)
TL_NARROW_FROM(i64, tl_i64)
TL_NARROW_FROM(u64, tl_u64)
TL_TF32_FROM(f64, double)
TL_TF32_FROM(i32, tl_i32)
TL_TF32_FROM(u32, tl_u32)
TL_TF32_FROM(i64, tl_i64)
TL_TF32_FROM(u64, tl_u64)
// Loops of dots round both operands on targets without an instruction. A comparison of numbers needs no magnitude.
TL_EXPORT tl_u32 __tileir_f32_to_tf32(float x) { return x != x ? 0x7fffe000u : tl_rounded_tf32(tl_bits32(x)); }

// Ties away from zero, like the conversion instruction for tensor cores.
TL_EXPORT tl_u32 __tileir_f32_to_tf32_rna(float x) {
  tl_u32 bits = tl_bits32(x);
  return (bits & TL_ABS_MASK) > TL_INF_BITS ? 0x7fffe000u : (bits + 0x1000u) & 0xffffe000u;
}

// Scale factors depend only on the magnitude. Rounding towards zero takes the exponent field unchanged. Rounding up
// adds one if mantissa bits are set, except below 2^-127, the smallest number of the format. Rounding up, finite
// numbers beyond 2^127 overflow to NaN; rounding towards zero, only infinity does.
TL_INLINE tl_u8 tl_scale_factor(float x, int up, int saturate) {
  tl_u32 magnitude = tl_bits32(x) & TL_ABS_MASK;
  tl_u32 code = magnitude >> 23;
  if (up) code = (magnitude + 0x7fffffu) >> 23;
  if (up) code = magnitude <= 0x00400000u ? 0u : code;
  code = saturate && code > 0xfeu ? 0xfeu : code;
  return (tl_u8)(magnitude > TL_INF_BITS || code > 0xffu ? 0xffu : code);
}
#define TL_SCALE_FROM(source, type)                                                                                    \
  TL_EXPORT tl_u8 __tileir_##source##_to_e8m0_rz(type x) { return tl_scale_factor(tl_odd_##source(x), 0, 0); }         \
  TL_EXPORT tl_u8 __tileir_##source##_to_e8m0_rz_sat(type x) { return tl_scale_factor(tl_odd_##source(x), 0, 1); }     \
  TL_EXPORT tl_u8 __tileir_##source##_to_e8m0_rp(type x) { return tl_scale_factor(tl_odd_##source(x), 1, 0); }         \
  TL_EXPORT tl_u8 __tileir_##source##_to_e8m0_rp_sat(type x) { return tl_scale_factor(tl_odd_##source(x), 1, 1); }
TL_SCALE_FROM(f32, float)
TL_SCALE_FROM(f64, double)

// Converts two narrow numbers to two f16 in one word, with element 0 in the low half.
typedef _Float16 tl_f16x2 __attribute__((ext_vector_type(2)));
TL_INLINE tl_u32 tl_mul_f16x2(tl_u32 x, float factor) {
  tl_f16x2 v = __builtin_bit_cast(tl_f16x2, x) * (_Float16)factor;
  return __builtin_bit_cast(tl_u32, v);
}
TL_INLINE tl_u32 tl_spread(tl_u16 x) { return ((tl_u32)(x & 0xff00u) << 16) | ((tl_u32)x << 8 & 0xff00u); }

// Moved to the f16 positions, the bits represent the number divided by 2^8, the difference of the biases. The
// multiplication also makes subnormals normal. A NaN would come out as 480; adding one to its mantissa carries into
// bit 14.
TL_INLINE tl_u32 tl_e4m3x2_to_f16x2(tl_u16 x) {
  tl_u32 wide = tl_spread(x);
  tl_u32 magnitude = (wide & 0x7f007f00u) >> 1;
  tl_u32 nan = ((magnitude + 0x00800080u) & 0x40004000u) >> 14;
  return tl_mul_f16x2(magnitude | (wide & 0x80008000u), 256.0f) | nan * 0x7f00u;
}
TL_INLINE tl_u32 tl_e5m2x2_to_f16x2(tl_u16 x) { return tl_spread(x); }
// e2m1 is packed, with element 0 in the low four bits of the byte.
TL_INLINE tl_u32 tl_e2m1x2_to_f16x2(tl_u8 x) {
  tl_u32 wide = ((tl_u32)x << 12 & 0xf000u) | ((tl_u32)x << 24 & 0xf0000000u);
  return tl_mul_f16x2((wide & 0x80008000u) | ((wide & 0x70007000u) >> 3), 16384.0f);
}
TL_EXPORT tl_u32 __tileir_e4m3x2_to_f16x2(tl_u16 x) { return tl_e4m3x2_to_f16x2(x); }
TL_EXPORT tl_u32 __tileir_e5m2x2_to_f16x2(tl_u16 x) { return tl_e5m2x2_to_f16x2(x); }
TL_EXPORT tl_u32 __tileir_e2m1x2_to_f16x2(tl_u8 x) { return tl_e2m1x2_to_f16x2(x); }

TL_INLINE float tl_widen_f16(tl_u16 x) { return (float)__builtin_bit_cast(_Float16, x); }
TL_EXPORT tl_u16 __tileir_e4m3_to_f16(tl_u8 x) { return (tl_u16)tl_e4m3x2_to_f16x2(x); }
TL_EXPORT tl_u16 __tileir_e5m2_to_f16(tl_u8 x) { return (tl_u16)((tl_u32)x << 8); }
TL_EXPORT tl_u16 __tileir_e2m1_to_f16(tl_u8 x) { return (tl_u16)tl_e2m1x2_to_f16x2(x & 0xfu); }
TL_EXPORT float __tileir_e4m3_to_f32(tl_u8 x) { return tl_widen_f16((tl_u16)tl_e4m3x2_to_f16x2(x)); }
TL_EXPORT float __tileir_e5m2_to_f32(tl_u8 x) { return tl_widen_f16((tl_u16)((tl_u32)x << 8)); }
TL_EXPORT float __tileir_e2m1_to_f32(tl_u8 x) { return tl_widen_f16((tl_u16)tl_e2m1x2_to_f16x2(x & 0xfu)); }
TL_EXPORT float __tileir_f16_to_f32(tl_u16 x) { return tl_widen_f16(x); }
TL_EXPORT float __tileir_bf16_to_f32(tl_u16 x) { return tl_float((tl_u32)x << 16); }
// Exact; clears the bits outside the format.
TL_EXPORT float __tileir_tf32_to_f32(tl_u32 x) { return tl_float(x & 0xffffe000u); }
// Code 0 is the subnormal 2^-127. Code 0xff has the exponent of infinity here, and infinity times zero is NaN; the
// fused operation changes no other value.
TL_EXPORT float __tileir_e8m0_to_f32(tl_u8 x) {
  float power = tl_float(__builtin_elementwise_max((tl_u32)x << 23, 0x00400000u));
  return __builtin_fmaf(power, 0.0f, power);
}
TL_EXPORT tl_u16 __tileir_e8m0_to_bf16(tl_u8 x) {
  tl_u32 bits = x == 0 ? 0x0040u : (tl_u32)x << 7;
  return (tl_u16)(x == 0xffu ? 0x7fc0u : bits);
}

#define TL_PAIR(expression_lo, expression_hi, name)                                                            \
  TL_EXPORT tl_u16 __tileir_f32x2_to_##name(float lo, float hi) {                                                      \
    return (tl_u16)((expression_lo) | (tl_u32)(expression_hi) << 8);                                                   \
  }
TL_PAIR(tl_narrow_e4m3(lo, 0), tl_narrow_e4m3(hi, 0), e4m3x2)
TL_PAIR(tl_narrow_e4m3(lo, 1), tl_narrow_e4m3(hi, 1), e4m3x2_sat)
TL_PAIR(tl_narrow_e5m2(lo, 0), tl_narrow_e5m2(hi, 0), e5m2x2)
TL_PAIR(tl_narrow_e5m2(lo, 1), tl_narrow_e5m2(hi, 1), e5m2x2_sat)
TL_EXPORT tl_u8 __tileir_f32x2_to_e2m1x2(float lo, float hi) {
  return (tl_u8)(tl_narrow_e2m1(lo) | tl_narrow_e2m1(hi) << 4);
}
TL_EXPORT tl_u32 __tileir_f32x2_to_bf16x2(float lo, float hi) {
  return tl_narrow_bf16(lo) | (tl_u32)tl_narrow_bf16(hi) << 16;
}
