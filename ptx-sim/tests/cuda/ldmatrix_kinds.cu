// arch: sm_80
// ldmatrix in one, two and four matrices, plain and transposed.
extern "C" __global__ void kernel(const unsigned short* in, unsigned* out) {
    __shared__ __align__(16) unsigned short tile[32 * 8];
    int i = threadIdx.x;
    for (int k = i; k < 256; k += 32) tile[k] = in[k];
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(&tile[8 * i]);
    unsigned* o = out + 11 * i;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(o[0]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(o[1]), "=r"(o[2]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(o[3]), "=r"(o[4]), "=r"(o[5]), "=r"(o[6]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(o[7]), "=r"(o[8]), "=r"(o[9]), "=r"(o[10]) : "r"(p));
}
