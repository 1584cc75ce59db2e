// arch: sm_90a
// stmatrix, plain and transposed, undoes ldmatrix.
extern "C" __global__ void kernel(const unsigned* in, unsigned short* out) {
    __shared__ __align__(16) unsigned short tile[2][256];
    int i = threadIdx.x;
    const unsigned* r = in + 4 * i;
    unsigned p = (unsigned)__cvta_generic_to_shared(&tile[0][8 * i]);
    unsigned q = (unsigned)__cvta_generic_to_shared(&tile[1][8 * i]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(p), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(q), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
    __syncwarp();
    for (int k = i; k < 512; k += 32) out[k] = tile[k >> 8][k & 255];
}
