// arch: sm_80
// A dense switch, which becomes an indexed branch.
extern "C" __global__ void kernel(const int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], r;
    switch (x) {
    case 0: r = i * 3; break;
    case 1: r = i ^ 0x55; break;
    case 2: r = -i; break;
    case 3: r = i << 4; break;
    case 4: r = i / 3; break;
    case 5: r = i % 7; break;
    case 6: r = __popc(i); break;
    case 7: r = __brev(i); break;
    default: r = 1000 + x;
    }
    out[i] = r;
}
