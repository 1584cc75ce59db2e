// arch: sm_100a
// The 8-bit forms of ldmatrix and stmatrix.
extern "C" __global__ void kernel(const unsigned char* in, unsigned* out, unsigned char* stored) {
    __shared__ __align__(16) unsigned char tile[512];
    __shared__ __align__(16) unsigned char back[128];
    int i = threadIdx.x;
    for (int k = i; k < 512; k += 32) tile[k] = in[k];
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(&tile[16 * i]);
    unsigned* o = out + 7 * i;
    asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];"
                 : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%0}, [%1];" : "=r"(o[4]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%0, %1}, [%2];" : "=r"(o[5]), "=r"(o[6]) : "r"(p));
    unsigned q = (unsigned)__cvta_generic_to_shared(&back[16 * (i & 7)]);
    asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(q), "r"(o[0]) : "memory");
    __syncwarp();
    for (int k = i; k < 128; k += 32) stored[k] = back[k];
}
