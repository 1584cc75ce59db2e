// arch: sm_80
// Vector loads through the read-only path, streaming stores.
extern "C" __global__ void kernel(const float4* __restrict__ a, const double2* __restrict__ b, float4* c, int2* d) {
    int i = threadIdx.x;
    float4 v = __ldg(a + i);
    double2 w = __ldg(b + i);
    __stcs(c + i, make_float4(v.w, v.z, v.y, v.x));
    int2 r;
    r.x = (int)w.x;
    r.y = (int)w.y;
    __stcg(d + i, r);
}
