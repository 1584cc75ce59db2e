// arch: sm_80
// Lanes that return before a warp-wide operation of the others.
extern "C" __global__ void kernel(int* out) {
    int i = threadIdx.x;
    out[i] = -1;
    if (i % 4 == 3) return;
    unsigned mask = __activemask();
    int sum = __reduce_add_sync(0x77777777u, i);
    out[i] = sum + (mask == 0x77777777u ? 0 : 1000000);
}
