// Logarithms. The argument is split into 2^e * m with m near one, so that results near log(1) keep their accuracy.

typedef struct {
  float m, e;
} tl_log_parts_f32;

// m in [2/3, 4/3). A subnormal is scaled up first.
TL_INLINE tl_log_parts_f32 tl_log_split_f32(float x) {
  int tiny = x < 0x1p-126f;
  tl_u32 bits = tl_bits32(tiny ? x * 0x1p+24f : x);
  tl_i32 e = (tl_i32)(bits - 0x3f2aaaabu) >> 23;
  tl_log_parts_f32 parts;
  parts.m = tl_float(bits - ((tl_u32)e << 23));
  parts.e = (float)(tiny ? e - 24 : e);
  return parts;
}

// Zero gives -inf, +inf itself, negative numbers and NaN give NaN.
TL_INLINE float tl_log_special_f32(float x, float result) {
  float special = x == 0.0f ? -TL_INF_F32 : (x > 0.0f ? x : TL_NAN_F32);
  return x > 0.0f && x < TL_INF_F32 ? result : special;
}

TL_EXPORT float __tileir_log_f32(float x) {
  tl_log_parts_f32 parts = tl_log_split_f32(x);
  float f = parts.m - 1.0f;
  float tail = tl_poly_log_f32(f) * (f * f);
  // The large part of e * log(2) is exact and exceeds f unless it is zero. The rounding error of their sum is added
  // to the tail.
  float large = parts.e * LN2_SHORT_F32_HI;
  float sum = large + f, lost = (large - sum) + f;
  tail = tl_fmaf(parts.e, LN2_SHORT_F32_LO, tail);
  return tl_log_special_f32(x, sum + (lost + tail));
}

TL_EXPORT float __tileir_log2_f32(float x) {
  tl_log_parts_f32 parts = tl_log_split_f32(x);
  float f = parts.m - 1.0f;
  float tail = tl_poly_log_f32(f) * (f * f);
  float product = f * LOG2E_F32_HI;
  tail = tl_fmaf(tail, LOG2E_F32_HI, tl_fmaf(f, LOG2E_F32_LO, tl_fmaf(f, LOG2E_F32_HI, -product)));
  float sum = parts.e + product, lost = (parts.e - sum) + product;
  return tl_log_special_f32(x, sum + (lost + tail));
}

typedef struct {
  double m, e;
} tl_log_parts_f64;

// m in [sqrt(1/2), sqrt(2)).
TL_INLINE tl_log_parts_f64 tl_log_split_f64(double x) {
  int tiny = x < 0x1p-1022;
  tl_u64 bits = tl_bits64(tiny ? x * 0x1p+54 : x);
  tl_i32 e = (tl_i32)((tl_u32)(bits >> 32) - 0x3fe6a09eu) >> 20;
  tl_log_parts_f64 parts;
  parts.m = tl_double(bits - ((tl_u64)(tl_i64)e << 52));
  parts.e = (double)(tiny ? e - 54 : e);
  return parts;
}

TL_INLINE double tl_log_special_f64(double x, double result) {
  double special = x == 0.0 ? -TL_INF_F64 : (x > 0.0 ? x : TL_NAN_F64);
  return x > 0.0 && x < TL_INF_F64 ? result : special;
}

// log(1 + f) = 2 atanh(s) with s = f / (2 + f), arranged as f - (f^2/2 - s (f^2/2 + R)), where f is exact and the
// bracket is small compared with it.
TL_EXPORT double __tileir_log_f64(double x) {
  tl_log_parts_f64 parts = tl_log_split_f64(x);
  double f = parts.m - 1.0;
  double s = f / (2.0 + f);
  double z = s * s;
  double half = 0.5 * f * f;
  double r = z * tl_poly_log_f64(z);
  double bracket = half - tl_fma(s, half + r, parts.e * LN2_SHORT_F64_LO);
  return tl_log_special_f64(x, tl_fma(parts.e, LN2_SHORT_F64_HI, -(bracket - f)));
}

TL_EXPORT double __tileir_log2_f64(double x) {
  tl_log_parts_f64 parts = tl_log_split_f64(x);
  double f = parts.m - 1.0;
  double s = f / (2.0 + f);
  double z = s * s;
  double half = 0.5 * f * f;
  double r = z * tl_poly_log_f64(z);
  // log(m) as a sum of two, then times log2(e) as a sum of two, then plus the exponent.
  double hi = f - half;
  double lo = tl_fma(s, half + r, (f - hi) - half);
  double product = hi * LOG2E_F64_HI;
  double rest = tl_fma(hi, LOG2E_F64_HI, -product) + tl_fma(lo, LOG2E_F64_HI, hi * LOG2E_F64_LO);
  double sum = parts.e + product;
  double lost = parts.e == 0.0 ? 0.0 : (parts.e - sum) + product;
  return tl_log_special_f64(x, sum + (lost + rest));
}
