// arch: sm_80
// Real calls: parameters, results by value, a function pointer.
struct Pair { int a; long long b; };
__device__ __noinline__ Pair make(int x, long long y) {
    Pair p;
    p.a = x * 2;
    p.b = y + x;
    return p;
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
extern "C" __global__ void kernel(const int* a, long long* out, int pick) {
    int i = threadIdx.x;
    int (*f)(int) = pick ? square : twice;
    Pair p = make(a[i], i);
    out[3 * i] = p.a;
    out[3 * i + 1] = p.b;
    out[3 * i + 2] = f(a[i]);
}
