// arch: sm_80
// Loops whose trip count differs from lane to lane, with breaks.
extern "C" __global__ void kernel(const unsigned* a, unsigned* out) {
    int i = threadIdx.x;
    unsigned x = a[i], steps = 0, top = 0;
    while (x != 1) {
        if (x & 1) {
            if (x > 100000000u) break;
            x = 3 * x + 1;
        } else {
            x >>= 1;
        }
        top = max(top, x);
        steps++;
    }
    out[2 * i] = steps;
    out[2 * i + 1] = top;
}
