// Roots and quotients, most of them single instructions.

TL_EXPORT float __tileir_rsqrt_f32(float x) { return tl_rsqrt_approx(x); }
TL_EXPORT float __tileir_rsqrt_f32_ftz(float x) { return tl_rsqrt_approx_ftz(x); }
TL_EXPORT float __tileir_sqrt_f32_approx(float x) { return tl_sqrt_approx(x); }
TL_EXPORT float __tileir_sqrt_f32_approx_ftz(float x) { return tl_sqrt_approx_ftz(x); }
TL_EXPORT float __tileir_div_f32(float a, float b) { return tl_div_full(a, b); }
TL_EXPORT float __tileir_div_f32_ftz(float a, float b) { return tl_div_full_ftz(a, b); }
TL_EXPORT float __tileir_div_f32_approx(float a, float b) { return tl_div_approx(a, b); }
TL_EXPORT float __tileir_div_f32_approx_ftz(float a, float b) { return tl_div_approx_ftz(a, b); }

// The forms whose bits IEEE 754 defines. An instruction may flush a result before or after it rounds it; these flush
// afterwards.
TL_EXPORT float __tileir_rsqrt_f32_portable(float x) { return 1.0f / tl_sqrtf(x); }
TL_EXPORT float __tileir_rsqrt_f32_portable_ftz(float x) { return 1.0f / tl_sqrtf(tl_flushed_f32(x)); }
TL_EXPORT float __tileir_sqrt_f32_portable(float x) { return tl_sqrtf(x); }
TL_EXPORT float __tileir_sqrt_f32_portable_ftz(float x) { return tl_sqrtf(tl_flushed_f32(x)); }
TL_EXPORT float __tileir_div_f32_portable(float a, float b) { return a / b; }
TL_EXPORT float __tileir_div_f32_portable_ftz(float a, float b) {
  return tl_flushed_f32(tl_flushed_f32(a) / tl_flushed_f32(b));
}

// The estimate y has about 20 bits, and its square is exact if the remaining bits are cleared. Then e = 1
// - x y^2 has one rounding, and 1/sqrt(x) = y (1 - e)^(-1/2) = y (1 + e/2 + 3/8 e^2 + 5/16 e^3 + ...).
TL_INLINE double tl_rsqrt_f64(double x, int portable) {
  int tiny = x < 0x1p-1022;
  double scaled = tiny ? x * 0x1p+108 : x;
  double estimate = portable ? 1.0 / tl_sqrt(scaled) : tl_rsqrt_seed(scaled);
  double y = tl_double(tl_bits64(estimate) & 0xffffffff00000000ull);
  double e = tl_fma(-scaled, y * y, 1.0);
  double result = tl_fma(y * e, tl_fma(e, tl_fma(e, 0.3125, 0.375), 0.5), y);
  result = tiny ? result * 0x1p+54 : result;
  double special = x == 0.0 ? tl_copysign(TL_INF_F64, x) : (x > 0.0 ? 0.0 : TL_NAN_F64);
  return x > 0.0 && x < TL_INF_F64 ? result : special;
}

TL_EXPORT double __tileir_rsqrt_f64(double x) { return tl_rsqrt_f64(x, 0); }
TL_EXPORT double __tileir_rsqrt_f64_portable(double x) { return tl_rsqrt_f64(x, 1); }
