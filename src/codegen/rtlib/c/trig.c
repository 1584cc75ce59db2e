// Sine, cosine and tangent over the whole range.
//
// The argument is reduced to r in [-pi/4, pi/4] by subtracting the nearest multiple q of pi/2. Up to a limit this is
// Cody and Waite's method: pi/2 is represented as a sum of three numbers, and fused multiply-adds make the first
// difference exact. Beyond the limit (rare, so in a separate function) it is Payne and Hanek's method: x = m * 2^k
// with an integer m. In x * 2/pi, some bits of 2/pi contribute a multiple of four quadrants and some are too small to
// affect the result. The other bits are extracted from a table as an integer and multiplied by m modulo 2^96 (f32) or
// 2^192 (f64). The top two bits of the product are the quadrant, the others the position within it.
//
// An example with f32: x = 2^30, so m = 2^31 (the top bit is always set) and x * 2/pi = m * (2/pi * 2^-1). Modulo
// four quadrants, only 2/pi * 2^-1 modulo 2^-29 matters: the window of 96 bits starts at bit 29 of the table. The
// first 32 bits of the table are zero and have the weights 2^31 to 2^0.

// r + lo, with lo below half a unit in the last place of r, and the quadrant, of which only the low two bits matter.
typedef struct {
  float r, lo;
  tl_i32 q;
} tl_quadrant_f32;

#define TL_NEAR_F32 0x1p+16f

// For finite x of at least 2, infinities and NaN.
TL_INLINE tl_quadrant_f32 tl_trig_reduce_far_f32(float x) {
  tl_u32 bits = tl_bits32(x);
  tl_u32 m = (bits << 8) | 0x80000000u;
  tl_u32 offset = ((bits >> 23) & 0xffu) - 128;  // The unbiased exponent less one.
  tl_u32 index = (offset >> 5) & 3u, shift = offset & 31u;
  tl_u64 w01 = ((tl_u64)tl_two_over_pi_words32[index] << 32) | tl_two_over_pi_words32[index + 1];
  tl_u64 w12 = (w01 << 32) | tl_two_over_pi_words32[index + 2];
  tl_u64 w23 = (w12 << 32) | tl_two_over_pi_words32[index + 3];
  tl_u32 a0 = (tl_u32)(w01 << shift >> 32), a1 = (tl_u32)(w12 << shift >> 32), a2 = (tl_u32)(w23 << shift >> 32);
  tl_u64 product = ((tl_u64)(m * a0) << 32) + (tl_u64)m * a1 + ((tl_u64)m * a2 >> 32);
  tl_i64 fraction = (tl_i64)(product << 2);
  tl_i32 q = (tl_i32)(product >> 62) + (fraction < 0);
  double r = (double)fraction * (HALF_PI_F64_HI * 0x1p-64);
  int negative = (tl_i32)bits < 0;
  r = negative ? -r : r;
  r = tl_fabsf(x) < TL_INF_F32 ? r : TL_NAN_F64;
  tl_quadrant_f32 reduced;
  reduced.r = (float)r;
  reduced.lo = (float)(r - (double)reduced.r);
  reduced.q = negative ? -q : q;
  return reduced;
}

// For |x| up to TL_NEAR_F32, and NaN.
TL_INLINE tl_quadrant_f32 tl_trig_reduce_near_f32(float x) {
  float t = tl_fmaf(x, TWO_OVER_PI_F32, TL_ROUND_F32);
  float n = t - TL_ROUND_F32;
  tl_quadrant_f32 reduced;
  float head = tl_fmaf(n, -HALF_PI_F32_HI, x);  // Exact.
  float middle = tl_fmaf(n, -HALF_PI_F32_MID, head);
  reduced.r = tl_fmaf(n, -HALF_PI_F32_LO, middle);
  // The exact difference as a sum of three, minus r. Sine and cosine do not need it.
  float p = n * HALF_PI_F32_MID, p_lo = tl_fmaf(n, HALF_PI_F32_MID, -p);
  float sum = head - p, back = head - sum;
  float lost = (head - (sum + back)) + (back - p);
  reduced.lo = (sum - reduced.r) + tl_fmaf(n, -HALF_PI_F32_LO, lost - p_lo);
  reduced.q = (tl_i32)tl_bits32(t);
  return reduced;
}

// The sine after q quadrants; the cosine is the sine one quadrant further. Both polynomials have the form b + (b * u)
// * p(u) with b = r or 1, so the coefficients are selected instead of the values. The first coefficient of the sine
// is zero.
TL_INLINE float tl_sin_quadrant_f32(float r, tl_i32 q) {
  int odd = q & 1;
  float u = r * r;
  float base = odd ? 1.0f : r;
  float value = tl_fmaf(base * u, tl_poly_sin_or_cos_f32(u, odd), base);
  return tl_float(tl_bits32(value) ^ (((tl_u32)q & 2u) << 30));
}

TL_INLINE float tl_tan_quadrant_f32(tl_quadrant_f32 reduced, int portable) {
  float r = reduced.r, u = r * r;
  // tan(r + lo) = r + tail, where the derivative accounts for lo. The sum of two keeps the error of the reciprocal
  // within its own rounding.
  float tail = (r * u) * tl_poly_tan_f32(u);
  float slope = r + tail;
  tail += tl_fmaf(slope * slope, reduced.lo, reduced.lo);
  float hi = r + tail, lo = (r - hi) + tail;
  // An approximation suffices, because the residual corrects it. r = 0 occurs only for x = 0, in quadrant 0, where
  // the reciprocal is not used.
  float inverse = portable ? -1.0f / hi : tl_rcp_approx_ftz(-hi);
  float residual = tl_fmaf(inverse, lo, tl_fmaf(inverse, hi, 1.0f));
  return reduced.q & 1 ? tl_fmaf(inverse, residual, inverse) : hi;
}

// Huge arguments are rare, so they have separate functions: the other arguments only pay for a branch around a call,
// in instructions and in registers.
TL_FAR float tl_far_sin_f32(float x) {
  tl_quadrant_f32 reduced = tl_trig_reduce_far_f32(x);
  return tl_sin_quadrant_f32(reduced.r, reduced.q);
}

TL_FAR float tl_far_cos_f32(float x) {
  tl_quadrant_f32 reduced = tl_trig_reduce_far_f32(x);
  return tl_sin_quadrant_f32(reduced.r, reduced.q + 1);
}

TL_FAR float tl_far_tan_f32(float x) { return tl_tan_quadrant_f32(tl_trig_reduce_far_f32(x), 0); }
TL_FAR float tl_far_tan_f32_portable(float x) { return tl_tan_quadrant_f32(tl_trig_reduce_far_f32(x), 1); }

TL_EXPORT float __tileir_sin_f32(float x) {
  tl_quadrant_f32 reduced = tl_trig_reduce_near_f32(x);
  float value = tl_sin_quadrant_f32(reduced.r, reduced.q);
  // A sum of zeros of both signs would lose the sign of -0.
  value = x == 0.0f ? x : value;
  return TL_RARE(tl_fabsf(x) > TL_NEAR_F32) ? tl_far_sin_f32(x) : value;
}

TL_EXPORT float __tileir_cos_f32(float x) {
  tl_quadrant_f32 reduced = tl_trig_reduce_near_f32(x);
  float value = tl_sin_quadrant_f32(reduced.r, reduced.q + 1);
  return TL_RARE(tl_fabsf(x) > TL_NEAR_F32) ? tl_far_cos_f32(x) : value;
}

TL_EXPORT float __tileir_tan_f32(float x) {
  float value = tl_tan_quadrant_f32(tl_trig_reduce_near_f32(x), 0);
  value = x == 0.0f ? x : value;
  return TL_RARE(tl_fabsf(x) > TL_NEAR_F32) ? tl_far_tan_f32(x) : value;
}

TL_EXPORT float __tileir_tan_f32_portable(float x) {
  float value = tl_tan_quadrant_f32(tl_trig_reduce_near_f32(x), 1);
  value = x == 0.0f ? x : value;
  return TL_RARE(tl_fabsf(x) > TL_NEAR_F32) ? tl_far_tan_f32_portable(x) : value;
}

typedef struct {
  double r, lo;
  tl_i32 q;
} tl_quadrant_f64;

#define TL_NEAR_F64 0x1p+20

// For finite x of at least 2, infinities and NaN: |fraction| * 2^-126 quadrants, as an unevaluated sum times pi/2.
TL_INLINE tl_quadrant_f64 tl_trig_reduce_far_f64(double x) {
  tl_u64 bits = tl_bits64(x);
  tl_u64 m = (bits << 11) | 0x8000000000000000ull;
  tl_u32 offset = ((tl_u32)(bits >> 52) & 0x7ffu) - 1024;
  tl_u32 index = (offset >> 6) & 15u, shift = offset & 63u;
  tl_u64 w0 = tl_two_over_pi_words64[index], w1 = tl_two_over_pi_words64[index + 1];
  tl_u64 w2 = tl_two_over_pi_words64[index + 2], w3 = tl_two_over_pi_words64[index + 3];
  // Shifting right by one first keeps the shift counts in range when `shift` is zero.
  tl_u64 a0 = (w0 << shift) | (w1 >> 1 >> (63 - shift));
  tl_u64 a1 = (w1 << shift) | (w2 >> 1 >> (63 - shift));
  tl_u64 a2 = (w2 << shift) | (w3 >> 1 >> (63 - shift));
  tl_u64 middle = m * a1;
  tl_u64 low = middle + tl_mulhi_u64(m, a2);
  tl_u64 high = m * a0 + tl_mulhi_u64(m, a1) + (low < middle);
  tl_i32 q = (tl_i32)(high >> 62);
  high = (high << 2) | (low >> 62);
  low <<= 2;
  int over = (tl_i64)high < 0;
  q += over;
  // The magnitude of the two's complement fraction, then its leading bits as two exact numbers.
  high = over ? ~high + (low == 0) : high;
  low = over ? -low : low;
  tl_u32 zeros = (tl_u32)__builtin_clzll(high | 1);
  tl_u64 top = (high << zeros) | (low >> 1 >> (63 - zeros));
  low <<= zeros;
  double d1 = (double)(tl_i64)(top >> 11);
  double d2 = (double)(tl_i64)(((top & 0x7ffu) << 42) | (low >> 22));
  double scale = tl_pow2_f64(-53 - (tl_i32)zeros);
  d1 *= scale;
  d2 *= scale * 0x1p-53;
  double r = d1 * HALF_PI_F64_HI;
  double lo = tl_fma(d1, HALF_PI_F64_HI, -r) + tl_fma(d2, HALF_PI_F64_HI, d1 * HALF_PI_F64_MID);
  r = tl_fabs(x) < TL_INF_F64 ? r : TL_NAN_F64;
  int negative = ((tl_i64)bits < 0) != over;
  tl_quadrant_f64 reduced;
  reduced.r = negative ? -r : r;
  reduced.lo = negative ? -lo : lo;
  reduced.q = (tl_i64)bits < 0 ? -q : q;
  return reduced;
}

// For |x| up to TL_NEAR_F64, and NaN.
TL_INLINE tl_quadrant_f64 tl_trig_reduce_near_f64(double x) {
  double t = tl_fma(x, TWO_OVER_PI_F64, TL_ROUND_F64);
  double n = t - TL_ROUND_F64;
  double head = tl_fma(-n, HALF_PI_F64_HI, x);  // Exact.
  double p = n * HALF_PI_F64_MID;
  double p_lo = tl_fma(n, HALF_PI_F64_MID, -p);
  double r = head - p;
  // The rounding error of the difference, whichever operand is larger.
  double back = head - r;
  double lost = (head - (r + back)) + (back - p);
  tl_quadrant_f64 reduced;
  double rest = lost - tl_fma(n, HALF_PI_F64_LO, p_lo);
  reduced.r = r + rest;
  reduced.lo = (r - reduced.r) + rest;
  reduced.q = (tl_i32)tl_bits64(t);
  return reduced;
}

// The tail of sin(r + lo) after r.
TL_INLINE double tl_sin_tail_f64(double r, double lo, double u) {
  return tl_fma(r * u, tl_poly_sin_f64(u), lo * tl_fma(-0.5, u, 1.0));
}

// cos(r + lo) as head and tail.
TL_INLINE double tl_cos_head_f64(double u) { return tl_fma(-0.5, u, 1.0); }
TL_INLINE double tl_cos_tail_f64(double r, double lo, double u, double head) {
  double square_lo = tl_fma(r, r, -u);
  double lost = tl_fma(-0.5, u, 1.0 - head);
  return lost + tl_fma(u * u, tl_poly_cos_f64(u), -tl_fma(r, lo, 0.5 * square_lo));
}

TL_INLINE double tl_sin_quadrant_f64(double r, double lo, tl_i32 q) {
  double u = r * r;
  double head = tl_cos_head_f64(u);
  double cosine = head + tl_cos_tail_f64(r, lo, u, head);
  double sine = r + tl_sin_tail_f64(r, lo, u);
  double value = q & 1 ? cosine : sine;
  return tl_double(tl_bits64(value) ^ ((tl_u64)((tl_u32)q & 2u) << 62));
}

// The quotient of sine and cosine, each a head and a tail, with one correction from the residual.
TL_INLINE double tl_tan_quadrant_f64(tl_quadrant_f64 reduced) {
  double r = reduced.r, lo = reduced.lo, u = r * r;
  double sine_tail = tl_sin_tail_f64(r, lo, u);
  double sine = r + sine_tail;
  double sine_lo = (r - sine) + sine_tail;
  double head = tl_cos_head_f64(u);
  double cosine_tail = tl_cos_tail_f64(r, lo, u, head);
  double cosine = head + cosine_tail;
  double cosine_lo = (head - cosine) + cosine_tail;
  int odd = reduced.q & 1;
  double above = odd ? -cosine : sine, above_lo = odd ? -cosine_lo : sine_lo;
  double below = odd ? sine : cosine, below_lo = odd ? sine_lo : cosine_lo;
  double quotient = above / below;
  double residual = tl_fma(-quotient, below, above) + tl_fma(-quotient, below_lo, above_lo);
  return quotient + residual / below;
}

TL_FAR double tl_far_sin_f64(double x) {
  tl_quadrant_f64 reduced = tl_trig_reduce_far_f64(x);
  return tl_sin_quadrant_f64(reduced.r, reduced.lo, reduced.q);
}

TL_FAR double tl_far_cos_f64(double x) {
  tl_quadrant_f64 reduced = tl_trig_reduce_far_f64(x);
  return tl_sin_quadrant_f64(reduced.r, reduced.lo, reduced.q + 1);
}

TL_FAR double tl_far_tan_f64(double x) { return tl_tan_quadrant_f64(tl_trig_reduce_far_f64(x)); }

TL_EXPORT double __tileir_sin_f64(double x) {
  tl_quadrant_f64 reduced = tl_trig_reduce_near_f64(x);
  double value = tl_sin_quadrant_f64(reduced.r, reduced.lo, reduced.q);
  // Preserve the sign of zero.
  value = tl_fabs(x) < 0x1p-27 ? x : value;
  return TL_RARE(tl_fabs(x) > TL_NEAR_F64) ? tl_far_sin_f64(x) : value;
}

TL_EXPORT double __tileir_cos_f64(double x) {
  tl_quadrant_f64 reduced = tl_trig_reduce_near_f64(x);
  double value = tl_sin_quadrant_f64(reduced.r, reduced.lo, reduced.q + 1);
  return TL_RARE(tl_fabs(x) > TL_NEAR_F64) ? tl_far_cos_f64(x) : value;
}

TL_EXPORT double __tileir_tan_f64(double x) {
  double value = tl_tan_quadrant_f64(tl_trig_reduce_near_f64(x));
  value = tl_fabs(x) < 0x1p-27 ? x : value;
  return TL_RARE(tl_fabs(x) > TL_NEAR_F64) ? tl_far_tan_f64(x) : value;
}
