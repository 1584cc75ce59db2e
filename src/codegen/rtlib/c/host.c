// Models of the hardware operations; see host.h.
#include <fenv.h>
#include <math.h>

#include "tl.h"

static _Thread_local int tl_host_model = 0;
void tl_set_host_model(int model) { tl_host_model = model; }

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }

// The float farthest from `exact` in the model's direction that is within `ulps` units in the last place.
static float deviated(double exact, double ulps) {
  if (tl_host_model == 0 || !(fabs(exact) < 0x1p+128) || exact == 0.0) return (float)exact;
  int exponent = ilogb(exact) < -126 ? -126 : ilogb(exact);
  double target = exact + tl_host_model * ulps * ldexp(1.0, exponent - 23);
  float y = (float)target;
  if ((y - target) * tl_host_model > 0) y = nextafterf(y, tl_host_model > 0 ? -INFINITY : INFINITY);
  return y;
}

// 2^0 is documented to be exact.
float tl_ex2_approx(float x) { return x == 0.0f ? 1.0f : deviated(exp2((double)x), 2.0); }
float tl_ex2_approx_ftz(float x) { return flushed(tl_ex2_approx(flushed(x))); }
float tl_rcp_approx_ftz(float x) { return flushed(deviated(1.0 / (double)flushed(x), 1.0)); }
float tl_rsqrt_approx(float x) { return deviated(1.0 / sqrt((double)x), 2.0); }
float tl_rsqrt_approx_ftz(float x) { return tl_rsqrt_approx(flushed(x)); }
float tl_sqrt_approx(float x) { return deviated(sqrt((double)x), 1.0); }
float tl_sqrt_approx_ftz(float x) { return tl_sqrt_approx(flushed(x)); }
float tl_div_full(float a, float b) { return deviated((double)a / (double)b, 2.0); }
float tl_div_full_ftz(float a, float b) { return flushed(tl_div_full(flushed(a), flushed(b))); }
float tl_div_approx(float a, float b) {
  if (fabsf(b) > 0x1p+126f && fabsf(b) < INFINITY) {
    return isinf(a) || isnan(a) ? NAN : copysignf(0.0f, copysignf(1.0f, a) * copysignf(1.0f, b));
  }
  return tl_div_full(a, b);
}
float tl_div_approx_ftz(float a, float b) { return flushed(tl_div_approx(flushed(a), flushed(b))); }
float tl_tanh_approx(float x) {
  double exact = tanh((double)x);
  return (float)(exact * (1.0 + tl_host_model * 0x1p-11));
}
float tl_fma_sat(float a, float b, float c) {
  float y = fmaf(a, b, c);
  return y > 0.0f ? (y < 1.0f ? y : 1.0f) : 0.0f;
}

// Twenty bits of mantissa, the rest zero.
double tl_rsqrt_seed(double x) {
  if (fabs(x) < 0x1p-1022) x = copysign(0.0, x);
  double y = 1.0 / sqrt(x) * (1.0 + tl_host_model * 0x1p-20);
  return tl_double(tl_bits64(y) & 0xffffffff00000000ull);
}

// Volatile operands keep the operation between the two changes of the rounding mode.
#define TL_ROUNDED(rounding, type, expression)                                                                         \
  int saved = fegetround();                                                                                            \
  fesetround(rounding);                                                                                                \
  volatile type y = expression;                                                                                        \
  fesetround(saved);                                                                                                   \
  return y;

// Rounds to nearest even, then corrects by one step if that was the wrong direction.
static tl_u16 f16_directed(float x, int rounding) {
  _Float16 nearest = (_Float16)x;
  tl_u16 bits = __builtin_bit_cast(tl_u16, nearest);
  float y = (float)nearest;
  if (isnan(x) || y == x) return bits;
  int larger = rounding == FE_TOWARDZERO ? fabsf(y) > fabsf(x) : 0;
  int above = rounding == FE_DOWNWARD ? y > x : larger && y > 0;
  int below = rounding == FE_UPWARD ? y < x : larger && y < 0;
  if (above) bits = bits & 0x8000 ? bits + 1 : (bits == 0 ? 0x8001 : bits - 1);
  if (below) bits = bits & 0x8000 ? (bits == 0x8000 ? 1 : bits - 1) : bits + 1;
  return bits;
}

#define TL_DIRECTED(mode, rounding)                                                                                    \
  float tl_add_##mode(float a, float b) {                                                                              \
    volatile float p = a, q = b;                                                                                       \
    TL_ROUNDED(rounding, float, p + q)                                                                                 \
  }                                                                                                                    \
  float tl_mul_##mode(float a, float b) {                                                                              \
    volatile float p = a, q = b;                                                                                       \
    TL_ROUNDED(rounding, float, p *q)                                                                                  \
  }                                                                                                                    \
  float tl_fma_##mode(float a, float b, float c) {                                                                     \
    volatile float p = a, q = b, r = c;                                                                                \
    TL_ROUNDED(rounding, float, fmaf(p, q, r))                                                                         \
  }                                                                                                                    \
  float tl_div_##mode(float a, float b) {                                                                              \
    volatile float p = a, q = b;                                                                                       \
    TL_ROUNDED(rounding, float, p / q)                                                                                 \
  }                                                                                                                    \
  float tl_sqrt_##mode(float a) {                                                                                      \
    volatile float p = a;                                                                                              \
    TL_ROUNDED(rounding, float, sqrtf(p))                                                                              \
  }                                                                                                                    \
  tl_u16 tl_f16_##mode(float a) { return f16_directed(a, rounding); }
TL_DIRECTED(rz, FE_TOWARDZERO)
TL_DIRECTED(rm, FE_DOWNWARD)
TL_DIRECTED(rp, FE_UPWARD)

double tl_div_rz_f64(double a, double b) {
  volatile double p = a, q = b;
  TL_ROUNDED(FE_TOWARDZERO, double, p / q)
}

#define TL_CONVERT_RZ(name, type)                                                                                      \
  float name(type x) {                                                                                                 \
    volatile type p = x;                                                                                               \
    TL_ROUNDED(FE_TOWARDZERO, float, (float)p)                                                                         \
  }
TL_CONVERT_RZ(tl_f64_to_f32_rz, double)
TL_CONVERT_RZ(tl_i32_to_f32_rz, tl_i32)
TL_CONVERT_RZ(tl_i64_to_f32_rz, tl_i64)
TL_CONVERT_RZ(tl_u32_to_f32_rz, tl_u32)
TL_CONVERT_RZ(tl_u64_to_f32_rz, tl_u64)

tl_u64 tl_mulhi_u64(tl_u64 a, tl_u64 b) { return (tl_u64)((unsigned __int128)a * b >> 64); }

// Passes each print of this thread to a function that the test has set.
static _Thread_local void (*tl_host_print)(const char *, const void *);
void tl_set_host_print(void (*print)(const char *, const void *)) { tl_host_print = print; }
int tl_vprintf(const char *format, void *arguments) {
  tl_host_print(format, arguments);
  return 0;
}

tl_u32 tl_load_acquire(tl_u32 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
void tl_store_release(tl_u32 *p, tl_u32 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
tl_u32 tl_swap_relaxed(tl_u32 *p, tl_u32 expected, tl_u32 v) {
  __atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
tl_u32 tl_swap_acquire(tl_u32 *p, tl_u32 expected, tl_u32 v) {
  __atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  return expected;
}
