// Polynomials, constants and tables of the device library. Written by polynomials.py; edit that instead.
#pragma once

// log2(e) in two parts.
#define LOG2E_F32_HI 0x1.715476p+0f
#define LOG2E_F32_LO 0x1.4ae0cp-26f
// log(2) in two full parts.
#define LN2_F32_HI 0x1.62e43p-1f
#define LN2_F32_LO -0x1.05c61p-29f
// pi/2 in three parts, each rounded towards zero.
#define HALF_PI_F32_HI 0x1.921fb4p+0f
#define HALF_PI_F32_MID 0x1.4442dp-24f
#define HALF_PI_F32_LO 0x1.846988p-48f
// pi in two parts.
#define PI_F32_HI 0x1.921fb6p+1f
#define PI_F32_LO -0x1.777a5cp-24f
// 1/3 in two parts.
#define THIRD_F32_HI 0x1.555556p-2f
#define THIRD_F32_LO -0x1.555556p-27f
// 2/pi.
#define TWO_OVER_PI_F32 0x1.45f306p-1f
// log2(e) in two parts.
#define LOG2E_F64_HI 0x1.71547652b82fep+0
#define LOG2E_F64_LO 0x1.777d0ffda0d24p-56
// log(2) in two full parts.
#define LN2_F64_HI 0x1.62e42fefa39efp-1
#define LN2_F64_LO 0x1.abc9e3b39803fp-56
// pi/2 in three parts, each rounded towards zero.
#define HALF_PI_F64_HI 0x1.921fb54442d18p+0
#define HALF_PI_F64_MID 0x1.1a62633145c06p-54
#define HALF_PI_F64_LO 0x1.c1cd129024e08p-107
// pi in two parts.
#define PI_F64_HI 0x1.921fb54442d18p+1
#define PI_F64_LO 0x1.1a62633145c07p-53
// 1/3 in two parts.
#define THIRD_F64_HI 0x1.5555555555555p-2
#define THIRD_F64_LO 0x1.5555555555555p-56
// 2/pi.
#define TWO_OVER_PI_F64 0x1.45f306dc9c883p-1
// log(2), high part with 21 trailing zeros so that k * hi is exact.
#define LN2_SHORT_F64_HI 0x1.62e42ffp-1
#define LN2_SHORT_F64_LO -0x1.718432a1b0e26p-35
// log(2), high part with 9 trailing zeros so that k * hi is exact.
#define LN2_SHORT_F32_HI 0x1.62e4p-1f
#define LN2_SHORT_F32_LO 0x1.7f7d1cp-20f

// e^r = 1 + r + r^2 p(r); largest error 2^-28.2 of the result.
TL_INLINE float tl_poly_exp_f32(float u) {
  float p = 0x1.6d6f4ep-10f;
  p = tl_fmaf(p, u, 0x1.123adcp-7f);
  p = tl_fmaf(p, u, 0x1.5554cap-5f);
  p = tl_fmaf(p, u, 0x1.55549p-3f);
  p = tl_fmaf(p, u, 0x1.0p-1f);
  return p;
}

// e^r = 1 + r + r^2 p(r); largest error 2^-58.0 of the result.
TL_INLINE double tl_poly_exp_f64(double u) {
  double p = 0x1.af66796f35eeep-26;
  p = tl_fma(p, u, 0x1.28b12de03f28ep-22);
  p = tl_fma(p, u, 0x1.71ddf427f331dp-19);
  p = tl_fma(p, u, 0x1.a01995847d2adp-16);
  p = tl_fma(p, u, 0x1.a01a01b15a148p-13);
  p = tl_fma(p, u, 0x1.6c16c186180c9p-10);
  p = tl_fma(p, u, 0x1.111111110f402p-7);
  p = tl_fma(p, u, 0x1.555555554fddp-5);
  p = tl_fma(p, u, 0x1.5555555555559p-3);
  p = tl_fma(p, u, 0x1.000000000000cp-1);
  return p;
}

// tanh x = x + x u p(u), u = x^2, |x| <= 1; largest error 2^-27.5 of the result.
TL_INLINE float tl_poly_tanh_f32(float u) {
  float p = -0x1.77e312p-12f;
  p = tl_fmaf(p, u, 0x1.2da51ap-9f);
  p = tl_fmaf(p, u, -0x1.0460a2p-7f);
  p = tl_fmaf(p, u, 0x1.6009b4p-6f);
  p = tl_fmaf(p, u, -0x1.b9623ap-5f);
  p = tl_fmaf(p, u, 0x1.110be4p-3f);
  p = tl_fmaf(p, u, -0x1.55553cp-2f);
  return p;
}

// tanh x = x + x u p(u), u = x^2, |x| <= 0.55; largest error 2^-59.8 of the result.
TL_INLINE double tl_poly_tanh_f64(double u) {
  double p = -0x1.4632a5b0e19d8p-16;
  p = tl_fma(p, u, 0x1.5d27d8c4064fp-14);
  p = tl_fma(p, u, -0x1.e9597440d58e2p-13);
  p = tl_fma(p, u, 0x1.3481de92539fap-11);
  p = tl_fma(p, u, -0x1.7d8fa52f1696ep-10);
  p = tl_fma(p, u, 0x1.d6d29893157cep-9);
  p = tl_fma(p, u, -0x1.226e2f041e6a6p-7);
  p = tl_fma(p, u, 0x1.664f485901d9ep-6);
  p = tl_fma(p, u, -0x1.ba1ba1b97bf0dp-5);
  p = tl_fma(p, u, 0x1.1111111110789p-3);
  p = tl_fma(p, u, -0x1.555555555554fp-2);
  return p;
}

// sinh x = x + x u p(u), u = x^2, |x| <= 1; largest error 2^-31.5 of the result.
TL_INLINE float tl_poly_sinh_f32(float u) {
  float p = 0x1.75a6f4p-19f;
  p = tl_fmaf(p, u, 0x1.a02156p-13f);
  p = tl_fmaf(p, u, 0x1.1110e2p-7f);
  p = tl_fmaf(p, u, 0x1.555556p-3f);
  return p;
}

// sinh x = x + x u p(u), u = x^2, |x| <= 1; largest error 2^-57.0 of the result.
TL_INLINE double tl_poly_sinh_f64(double u) {
  double p = 0x1.b5da83489e19ap-48;
  p = tl_fma(p, u, 0x1.a6edc02d65a6fp-41);
  p = tl_fma(p, u, 0x1.6130adfa62fa8p-33);
  p = tl_fma(p, u, 0x1.ae6442098d373p-26);
  p = tl_fma(p, u, 0x1.71de3a6822d27p-19);
  p = tl_fma(p, u, 0x1.a01a01a007b22p-13);
  p = tl_fma(p, u, 0x1.1111111111199p-7);
  p = tl_fma(p, u, 0x1.5555555555555p-3);
  return p;
}

// log(1 + f) = f + f^2 p(f), -1/3 <= f <= 1/3; largest error 2^-27.7 of the result.
TL_INLINE float tl_poly_log_f32(float u) {
  float p = -0x1.079aa6p-3f;
  p = tl_fmaf(p, u, 0x1.1e7578p-3f);
  p = tl_fmaf(p, u, -0x1.f344d8p-4f);
  p = tl_fmaf(p, u, 0x1.1ed3e4p-3f);
  p = tl_fmaf(p, u, -0x1.559bd8p-3f);
  p = tl_fmaf(p, u, 0x1.99d06p-3f);
  p = tl_fmaf(p, u, -0x1.fffefcp-3f);
  p = tl_fmaf(p, u, 0x1.555506p-2f);
  p = tl_fmaf(p, u, -0x1.0p-1f);
  return p;
}

// log(1 + f) = f - f^2/2 + s (f^2/2 + z p(z)), s = f/(2 + f), z = s^2; largest error 2^-64.6 of the result.
TL_INLINE double tl_poly_log_f64(double u) {
  double p = 0x1.0f11070d71aa4p-3;
  p = tl_fma(p, u, 0x1.0f66f97d63155p-3);
  p = tl_fma(p, u, 0x1.3b202774496p-3);
  p = tl_fma(p, u, 0x1.745ce1b8d9adbp-3);
  p = tl_fma(p, u, 0x1.c71c724b93fe9p-3);
  p = tl_fma(p, u, 0x1.2492492439606p-2);
  p = tl_fma(p, u, 0x1.9999999999d12p-2);
  p = tl_fma(p, u, 0x1.5555555555555p-1);
  return p;
}

// atanh s = s + s z (1/3 + z p(z)), z = s^2; largest error 2^-36.8 of the result.
TL_INLINE float tl_poly_atanh_f32(float u) {
  float p = 0x1.dfa252p-4f;
  p = tl_fmaf(p, u, 0x1.24527cp-3f);
  p = tl_fmaf(p, u, 0x1.999ap-3f);
  return p;
}

// atanh s = s + s z (1/3 + z p(z)), z = s^2; largest error 2^-66.2 of the result.
TL_INLINE double tl_poly_atanh_f64(double u) {
  double p = 0x1.0e4596099cb65p-4;
  p = tl_fma(p, u, 0x1.0f7f9c49c17c5p-4);
  p = tl_fma(p, u, 0x1.3b1eef38ce6cdp-4);
  p = tl_fma(p, u, 0x1.745ce9d288874p-4);
  p = tl_fma(p, u, 0x1.c71c722d94f73p-4);
  p = tl_fma(p, u, 0x1.2492492457b66p-3);
  p = tl_fma(p, u, 0x1.9999999999b31p-3);
  return p;
}

// sin r = r + r u p(u), u = r^2; largest error 2^-28.0 of the result.
// cos r = 1 + u p(u), u = r^2; largest error 2^-33.1 of the result.
// The second of these two polynomials or the first one.
TL_INLINE float tl_poly_sin_or_cos_f32(float u, int second) {
  float p = second ? 0x1.99e0e8p-16f : 0x0p+0f;
  p = tl_fmaf(p, u, second ? -0x1.6c0c1ap-10f : -0x1.9955b4p-13f);
  p = tl_fmaf(p, u, second ? 0x1.55554ap-5f : 0x1.11077cp-7f);
  p = tl_fmaf(p, u, second ? -0x1.0p-1f : -0x1.555546p-3f);
  return p;
}

// tan r = r + r u p(u), u = r^2; largest error 2^-29.3 of the result.
TL_INLINE float tl_poly_tan_f32(float u) {
  float p = 0x1.231a38p-8f;
  p = tl_fmaf(p, u, -0x1.83b224p-15f);
  p = tl_fmaf(p, u, 0x1.66a9dap-7f);
  p = tl_fmaf(p, u, 0x1.5bf934p-6f);
  p = tl_fmaf(p, u, 0x1.baee2ep-5f);
  p = tl_fmaf(p, u, 0x1.110d22p-3f);
  p = tl_fmaf(p, u, 0x1.555562p-2f);
  return p;
}

// sin r = r + r u p(u), u = r^2; largest error 2^-58.0 of the result.
TL_INLINE double tl_poly_sin_f64(double u) {
  double p = 0x1.5d93807f55264p-33;
  p = tl_fma(p, u, -0x1.ae5e6831035fap-26);
  p = tl_fma(p, u, 0x1.71de357aa4ddfp-19);
  p = tl_fma(p, u, -0x1.a01a019c15afap-13);
  p = tl_fma(p, u, 0x1.111111110f8a4p-7);
  p = tl_fma(p, u, -0x1.5555555555549p-3);
  return p;
}

// cos r = 1 - u/2 + u^2 p(u), u = r^2; largest error 2^-64.2 of the result.
TL_INLINE double tl_poly_cos_f64(double u) {
  double p = -0x1.8fb108e6b53e5p-37;
  p = tl_fma(p, u, 0x1.1ee9f110378f6p-29);
  p = tl_fma(p, u, -0x1.27e4f81265b24p-22);
  p = tl_fma(p, u, 0x1.a01a019cbf0d8p-16);
  p = tl_fma(p, u, -0x1.6c16c16c1521dp-10);
  p = tl_fma(p, u, 0x1.555555555554cp-5);
  return p;
}

// atan t = t + t u p(u), u = t^2, |t| <= 1; largest error 2^-28.5 of the result.
TL_INLINE float tl_poly_atan_f32(float u) {
  float p = -0x1.d320aap-10f;
  p = tl_fmaf(p, u, 0x1.640c0cp-7f);
  p = tl_fmaf(p, u, -0x1.fd6d58p-6f);
  p = tl_fmaf(p, u, 0x1.da248ap-5f);
  p = tl_fmaf(p, u, -0x1.58083ap-4f);
  p = tl_fmaf(p, u, 0x1.c08c32p-4f);
  p = tl_fmaf(p, u, -0x1.242086p-3f);
  p = tl_fmaf(p, u, 0x1.9991e4p-3f);
  p = tl_fmaf(p, u, -0x1.55553ep-2f);
  return p;
}

// atan t = t + t u p(u), u = t^2, |t| <= 1; largest error 2^-58.1 of the result.
TL_INLINE double tl_poly_atan_f64(double u) {
  double p = -0x1.218adf9d9099cp-17;
  p = tl_fma(p, u, 0x1.b2d082a249fe5p-14);
  p = tl_fma(p, u, -0x1.36758a7c27aaep-11);
  p = tl_fma(p, u, 0x1.19cecfbed6189p-9);
  p = tl_fma(p, u, -0x1.6fad1493142a8p-8);
  p = tl_fma(p, u, 0x1.72cccee6b1edap-7);
  p = tl_fma(p, u, -0x1.30f6ff18c955fp-6);
  p = tl_fma(p, u, 0x1.ac79e690f2e37p-6);
  p = tl_fma(p, u, -0x1.0c95e324d4abdp-5);
  p = tl_fma(p, u, 0x1.3905e82a1e2b4p-5);
  p = tl_fma(p, u, -0x1.5f250d1bef275p-5);
  p = tl_fma(p, u, 0x1.84b4b3b6711d7p-5);
  p = tl_fma(p, u, -0x1.aeda720edda25p-5);
  p = tl_fma(p, u, 0x1.e1d48ee8b26b4p-5);
  p = tl_fma(p, u, -0x1.1110331f03b45p-4);
  p = tl_fma(p, u, 0x1.3b139be6f1a44p-4);
  p = tl_fma(p, u, -0x1.745d15d27c854p-4);
  p = tl_fma(p, u, 0x1.c71c71b64e2c6p-4);
  p = tl_fma(p, u, -0x1.249249245764bp-3);
  p = tl_fma(p, u, 0x1.9999999998c65p-3);
  p = tl_fma(p, u, -0x1.555555555554dp-2);
  return p;
}

// A zero word, then the fraction bits of 2/pi, most significant word first.
TL_TABLE unsigned int tl_two_over_pi_words32[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
TL_TABLE unsigned long long tl_two_over_pi_words64[20] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};
