// Hardware operations on the host, for the tests. They are exact where the hardware is exact. For approximate
// instructions, the tests select a model: `tl_host_model` 0 gives the correctly rounded result, 1 and -1 the largest
// deviation up and down that the documentation of the instruction set allows. The bodies are in host.c, which is
// compiled for dynamic rounding.
#pragma once

#define TL_TABLE static const
#define TL_GLOBAL

float tl_ex2_approx(float x);
float tl_ex2_approx_ftz(float x);
float tl_rcp_approx_ftz(float x);
float tl_rsqrt_approx(float x);
float tl_rsqrt_approx_ftz(float x);
float tl_sqrt_approx(float x);
float tl_sqrt_approx_ftz(float x);
float tl_div_approx(float a, float b);
float tl_div_approx_ftz(float a, float b);
float tl_div_full(float a, float b);
float tl_div_full_ftz(float a, float b);
float tl_tanh_approx(float x);
float tl_fma_sat(float a, float b, float c);
double tl_rsqrt_seed(double x);

#define TL_DIRECTED(mode)                                                                                              \
  float tl_add_##mode(float a, float b);                                                                               \
  float tl_mul_##mode(float a, float b);                                                                               \
  float tl_fma_##mode(float a, float b, float c);                                                                      \
  float tl_div_##mode(float a, float b);                                                                               \
  float tl_sqrt_##mode(float a);                                                                                       \
  tl_u16 tl_f16_##mode(float a);
TL_DIRECTED(rz)
TL_DIRECTED(rm)
TL_DIRECTED(rp)
#undef TL_DIRECTED

double tl_div_rz_f64(double a, double b);
float tl_f64_to_f32_rz(double x);
float tl_i32_to_f32_rz(tl_i32 x);
float tl_u32_to_f32_rz(tl_u32 x);
float tl_i64_to_f32_rz(tl_i64 x);
float tl_u64_to_f32_rz(tl_u64 x);
tl_u64 tl_mulhi_u64(tl_u64 a, tl_u64 b);

int tl_vprintf(const char *format, void *arguments);

tl_u32 tl_load_acquire(tl_u32 *p);
void tl_store_release(tl_u32 *p, tl_u32 v);
tl_u32 tl_swap_relaxed(tl_u32 *p, tl_u32 expected, tl_u32 v);
tl_u32 tl_swap_acquire(tl_u32 *p, tl_u32 expected, tl_u32 v);
