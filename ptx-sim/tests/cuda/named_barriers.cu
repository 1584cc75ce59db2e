// arch: sm_80
// Warps hand data over with bar.sync and bar.arrive on numbered barriers.
extern "C" __global__ void kernel(int* out) {
    __shared__ int box[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int round = 0; round < 5; ++round) {
        if (warp == 0) {
            if (round) asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = round * 100 + lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[round * 32 + lane] = box[31 - lane];
            if (round < 4) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
