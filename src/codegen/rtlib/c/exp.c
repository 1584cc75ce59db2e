// Exponentials.

// e^x = 2^n * 2^f, where n is x * log2(e) rounded and clamped to [-126, 127]. Two properties keep this short. The
// clamp is the saturation of a fused multiply-add on a scaled argument. If the clamp leaves a large f (the result
// overflows or is subnormal), the result is still correct, because the hardware computes 2^f over its whole range and
// the last multiplication rounds once into the subnormals.
TL_EXPORT float __tileir_exp_f32(float x) {
  float s = tl_fma_sat(x, LOG2E_F32_HI / 253.0f, 126.0f / 253.0f);  // (n + 126) / 253
  float t = tl_fmaf(s, 253.0f, TL_ROUND_F32 + 1.0f);                // Its low bits hold n + 127.
  float minus_n = (TL_ROUND_F32 + 127.0f) - t;
  float f = tl_fmaf(x, LOG2E_F32_HI, minus_n);
  f = tl_fmaf(x, LOG2E_F32_LO, f);
  return tl_ex2_approx_ftz(f) * tl_float(tl_bits32(t) << 23);
}

// The error grows with |x|, because the product with log2(e) is rounded before the power is taken.
TL_EXPORT float __tileir_exp_f32_approx(float x) { return tl_ex2_approx(x * LOG2E_F32_HI); }
TL_EXPORT float __tileir_exp_f32_approx_ftz(float x) { return tl_ex2_approx_ftz(x * LOG2E_F32_HI); }

TL_EXPORT float __tileir_exp2_f32(float x) { return tl_ex2_approx(x); }
TL_EXPORT float __tileir_exp2_f32_ftz(float x) { return tl_ex2_approx_ftz(x); }

// e^x of a clamped argument as 2^n * (hi + lo), with lo below half a unit in the last place of hi and hi in [0.7,
// 1.42].
typedef struct {
  float hi, lo;
  tl_i32 n;
} tl_exp_parts_f32;

typedef struct {
  double hi, lo;
  tl_i32 n;
} tl_exp_parts_f64;

TL_INLINE tl_exp_parts_f32 tl_exp_split_f32(float x) {
  float t = tl_fmaf(x, LOG2E_F32_HI, TL_ROUND_F32);
  float n = t - TL_ROUND_F32;
  float a = tl_fmaf(-n, LN2_SHORT_F32_HI, x);  // Exact: the product has few bits and cancels the head of x.
  float r = tl_fmaf(-n, LN2_SHORT_F32_LO, a);
  float rest = tl_fmaf(-n, LN2_SHORT_F32_LO, a - r);
  float tail = tl_fmaf(r * r, tl_poly_exp_f32(r), rest);
  float s = r + tail;
  tl_exp_parts_f32 parts;
  parts.hi = 1.0f + s;
  parts.lo = ((1.0f - parts.hi) + s) + ((r - s) + tail);
  parts.n = (tl_i32)(tl_bits32(t) << 10) >> 10;
  return parts;
}

TL_INLINE tl_exp_parts_f64 tl_exp_split_f64(double x) {
  double t = tl_fma(x, LOG2E_F64_HI, TL_ROUND_F64);
  double n = t - TL_ROUND_F64;
  double a = tl_fma(-n, LN2_SHORT_F64_HI, x);
  double r = tl_fma(-n, LN2_SHORT_F64_LO, a);
  double rest = tl_fma(-n, LN2_SHORT_F64_LO, a - r);
  double tail = tl_fma(r * r, tl_poly_exp_f64(r), rest);
  double s = r + tail;
  tl_exp_parts_f64 parts;
  parts.hi = 1.0 + s;
  parts.lo = ((1.0 - parts.hi) + s) + ((r - s) + tail);
  parts.n = (tl_i32)tl_bits64(t);
  return parts;
}

// Without the special function unit: its bits are the same on all machines. A NaN passes both clamps and reaches the
// result through r.
TL_EXPORT float __tileir_exp_f32_poly(float x) {
  float c = x < -105.0f ? -105.0f : x;
  c = c > 90.0f ? 90.0f : c;
  float t = tl_fmaf(c, LOG2E_F32_HI, TL_ROUND_F32);
  float n = t - TL_ROUND_F32;
  float r = tl_fmaf(-n, LN2_F32_HI, c);
  r = tl_fmaf(-n, LN2_F32_LO, r);
  float q = 1.0f + tl_fmaf(r * r, tl_poly_exp_f32(r), r);
  return tl_scale_f32(q, (tl_i32)(tl_bits32(t) << 10) >> 10);
}
TL_EXPORT float __tileir_exp_f32_portable_ftz(float x) { return tl_flushed_f32(__tileir_exp_f32_poly(x)); }

TL_EXPORT float __tileir_exp2_f32_portable(float x) {
  float c = x < -152.0f ? -152.0f : x;
  c = c > 130.0f ? 130.0f : c;
  float t = c + TL_ROUND_F32;
  float f = c - (t - TL_ROUND_F32);  // Exact.
  float r = f * LN2_F32_HI;
  float rest = tl_fmaf(f, LN2_F32_LO, tl_fmaf(f, LN2_F32_HI, -r));
  float q = 1.0f + (r + tl_fmaf(r * r, tl_poly_exp_f32(r), rest));
  return tl_scale_f32(q, (tl_i32)(tl_bits32(t) << 10) >> 10);
}
TL_EXPORT float __tileir_exp2_f32_portable_ftz(float x) { return tl_flushed_f32(__tileir_exp2_f32_portable(x)); }

// A NaN passes both clamps and reaches the result through r.
TL_EXPORT double __tileir_exp_f64(double x) {
  double c = x < -750.0 ? -750.0 : x;
  c = c > 715.0 ? 715.0 : c;
  tl_exp_parts_f64 e = tl_exp_split_f64(c);
  return tl_scale_f64(e.hi, e.n);
}

TL_EXPORT double __tileir_exp2_f64(double x) {
  double c = x < -1080.0 ? -1080.0 : x;
  c = c > 1030.0 ? 1030.0 : c;
  double t = c + TL_ROUND_F64;
  double f = c - (t - TL_ROUND_F64);  // Exact.
  double r = f * LN2_F64_HI;
  double rest = tl_fma(f, LN2_F64_LO, tl_fma(f, LN2_F64_HI, -r));
  double q = 1.0 + (r + tl_fma(r * r, tl_poly_exp_f64(r), rest));
  return tl_scale_f64(q, (tl_i32)tl_bits64(t));
}
