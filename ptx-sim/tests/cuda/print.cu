// arch: sm_80
// printf from several threads.
#include <cstdio>
extern "C" __global__ void kernel(const float* a) {
    if (threadIdx.x % 16 == 3) printf("lane %d: %5.2f|%-6s|%08x %c %lld%%\n", threadIdx.x, a[threadIdx.x], "text", 0xbeef, 'z', -5ll);
}
