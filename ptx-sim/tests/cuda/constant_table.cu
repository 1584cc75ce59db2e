// arch: sm_80
// Constant memory, indexed differently by each lane.
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ double factor = 0.5;
extern "C" __global__ void kernel(const int* a, double* out) {
    int i = threadIdx.x;
    out[i] = table[a[i] & 7] * factor;
}
