// Hyperbolic functions. All are computed for |x|; the sign is restored at the end.

// Below 1 an odd polynomial; above, 1 - 2 / (e^2x + 1), where the errors of both approximate instructions shrink with
// the distance from 1. Both paths are evaluated, which costs less than a divergent branch.
TL_INLINE float tl_tanh_select_f32(float x, float large) {
  float u = x * x;
  float small = tl_fmaf(x * u, tl_poly_tanh_f32(u), x);
  return tl_copysignf(tl_fabsf(x) < 1.0f ? small : large, x);  // For -0 too, where the polynomial's sum gives +0.
}

TL_EXPORT float __tileir_tanh_f32(float x) {
  float t = tl_ex2_approx_ftz(tl_fabsf(x) * (2.0f * LOG2E_F32_HI));
  return tl_tanh_select_f32(x, tl_fmaf(tl_rcp_approx_ftz(t + 1.0f), -2.0f, 1.0f));
}

TL_EXPORT float __tileir_tanh_f32_portable(float x) {
  float t = __tileir_exp_f32_poly(tl_fabsf(x) * 2.0f);
  return tl_tanh_select_f32(x, 1.0f - 2.0f / (t + 1.0f));
}

TL_EXPORT float __tileir_tanh_f32_approx(float x) { return tl_tanh_approx(x); }

// With e^a = 2^n (hi + lo), sinh a and cosh a are 2^(n-1) (hi + lo -/+ 2^-2n / hi). Beyond n = 60 the last term is
// far below the result, and its exponent is clamped. A NaN passes the comparison of the clamp.
TL_EXPORT float __tileir_sinh_f32(float x) {
  float a = tl_fabsf(x), c = a > 95.0f ? 95.0f : a;
  tl_exp_parts_f32 e = tl_exp_split_f32(c);
  float inverse = tl_pow2_f32(-2 * (e.n < 60 ? e.n : 60)) / e.hi;
  float head = e.hi - inverse;
  float tail = ((e.hi - head) - inverse) + e.lo;
  float large = tl_scale_f32(head + tail, e.n - 1);
  float u = x * x;
  float small = tl_fmaf(x * u, tl_poly_sinh_f32(u), x);
  return a < 1.0f ? small : tl_copysignf(large, x);
}

TL_EXPORT float __tileir_cosh_f32(float x) {
  float a = tl_fabsf(x), c = a > 95.0f ? 95.0f : a;
  tl_exp_parts_f32 e = tl_exp_split_f32(c);
  float inverse = tl_pow2_f32(-2 * (e.n < 60 ? e.n : 60)) / e.hi;
  return tl_scale_f32(e.hi + (e.lo + inverse), e.n - 1);
}

TL_EXPORT double __tileir_sinh_f64(double x) {
  double a = tl_fabs(x), c = a > 720.0 ? 720.0 : a;
  tl_exp_parts_f64 e = tl_exp_split_f64(c);
  double inverse = tl_pow2_f64(-2 * (e.n < 60 ? e.n : 60)) / e.hi;
  double head = e.hi - inverse;
  double tail = ((e.hi - head) - inverse) + e.lo;
  double large = tl_scale_f64(head + tail, e.n - 1);
  double u = x * x;
  double small = tl_fma(x * u, tl_poly_sinh_f64(u), x);
  return a < 1.0 ? small : tl_copysign(large, x);
}

TL_EXPORT double __tileir_cosh_f64(double x) {
  double a = tl_fabs(x), c = a > 720.0 ? 720.0 : a;
  tl_exp_parts_f64 e = tl_exp_split_f64(c);
  double inverse = tl_pow2_f64(-2 * (e.n < 60 ? e.n : 60)) / e.hi;
  return tl_scale_f64(e.hi + (e.lo + inverse), e.n - 1);
}

// As in f32, with e^2a + 1 as a sum of two and the quotient corrected, so that only the last addition rounds.
TL_EXPORT double __tileir_tanh_f64(double x) {
  double a = tl_fabs(x), c = a > 20.0 ? 20.0 : a;
  tl_exp_parts_f64 e = tl_exp_split_f64(c + c);
  double scale = tl_pow2_f64(e.n & 0x3ff);
  double t = e.hi * scale;
  double below = t + 1.0;
  // t can be below 1 only where the polynomial is used.
  double below_lo = tl_fma(e.lo, scale, (t - below) + 1.0);
  double quotient = 2.0 / below;
  double residual = tl_fma(-quotient, below_lo, tl_fma(-quotient, below, 2.0));
  double rest = residual * quotient * 0.5;
  double head = 1.0 - quotient;
  double large = head + (((1.0 - head) - quotient) - rest);
  double u = x * x;
  double small = tl_fma(x * u, tl_poly_tanh_f64(u), x);
  return tl_copysign(a < 0.55 ? small : large, x);
}
