// f16 and bf16 arithmetic rounded towards zero, down or up.
//
// Instructions round these types only to nearest, but round f32 in every direction. Rounding in one direction to a
// fine grid, and then in the same direction to a coarser grid within it, equals rounding once. Every number of both
// types is an f32, so the operation is computed in f32 and the result narrowed, both with the requested rounding.
// Overflow follows: the f32 operation gives infinity or the largest f32, depending on the direction, and so does
// narrowing.

// bf16 is the upper half of an f32. Rounding away from zero adds all of the truncated bits first.
TL_INLINE tl_u16 tl_bf16_directed(float x, int up, int down) {
  tl_u32 bits = tl_bits32(x);
  int away = bits >> 31 ? down : up;
  tl_u32 rounded = (bits + (away ? 0xffffu : 0u)) >> 16;
  return (tl_u16)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}
TL_INLINE tl_u16 tl_bf16_rz(float x) { return tl_bf16_directed(x, 0, 0); }
TL_INLINE tl_u16 tl_bf16_rm(float x) { return tl_bf16_directed(x, 0, 1); }
TL_INLINE tl_u16 tl_bf16_rp(float x) { return tl_bf16_directed(x, 1, 0); }

TL_INLINE float tl_wide_f16(tl_u16 x) { return (float)__builtin_bit_cast(_Float16, x); }
TL_INLINE float tl_wide_bf16(tl_u16 x) { return tl_float((tl_u32)x << 16); }

#define TL_DIRECTED(type, mode)                                                                                        \
  TL_EXPORT tl_u16 __tileir_f32_to_##type##_##mode(float x) { return tl_##type##_##mode(x); }                          \
  TL_EXPORT tl_u16 __tileir_add_##type##_##mode(tl_u16 a, tl_u16 b) {                                                  \
    return tl_##type##_##mode(tl_add_##mode(tl_wide_##type(a), tl_wide_##type(b)));                                    \
  }                                                                                                                    \
  TL_EXPORT tl_u16 __tileir_sub_##type##_##mode(tl_u16 a, tl_u16 b) {                                                  \
    return tl_##type##_##mode(tl_add_##mode(tl_wide_##type(a), -tl_wide_##type(b)));                                   \
  }                                                                                                                    \
  TL_EXPORT tl_u16 __tileir_mul_##type##_##mode(tl_u16 a, tl_u16 b) {                                                  \
    return tl_##type##_##mode(tl_mul_##mode(tl_wide_##type(a), tl_wide_##type(b)));                                    \
  }                                                                                                                    \
  TL_EXPORT tl_u16 __tileir_fma_##type##_##mode(tl_u16 a, tl_u16 b, tl_u16 c) {                                        \
    return tl_##type##_##mode(tl_fma_##mode(tl_wide_##type(a), tl_wide_##type(b), tl_wide_##type(c)));                 \
  }                                                                                                                    \
  TL_EXPORT tl_u16 __tileir_div_##type##_##mode(tl_u16 a, tl_u16 b) {                                                  \
    return tl_##type##_##mode(tl_div_##mode(tl_wide_##type(a), tl_wide_##type(b)));                                    \
  }                                                                                                                    \
  TL_EXPORT tl_u16 __tileir_sqrt_##type##_##mode(tl_u16 a) {                                                           \
    return tl_##type##_##mode(tl_sqrt_##mode(tl_wide_##type(a)));                                                      \
  }
TL_DIRECTED(f16, rz)
TL_DIRECTED(f16, rm)
TL_DIRECTED(f16, rp)
TL_DIRECTED(bf16, rz)
TL_DIRECTED(bf16, rm)
TL_DIRECTED(bf16, rp)
#undef TL_DIRECTED
