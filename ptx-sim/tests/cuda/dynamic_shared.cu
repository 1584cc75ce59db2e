// arch: sm_80
// Dynamic shared memory in two typed parts.
extern __shared__ char memory[];
extern "C" __global__ void kernel(const int* in, int* out) {
    int* ints = (int*)memory;
    short* shorts = (short*)(memory + 4 * blockDim.x);
    int i = threadIdx.x;
    ints[i] = in[i];
    shorts[i] = (short)(in[i] * 3);
    __syncthreads();
    int j = blockDim.x - 1 - i;
    out[i] = ints[j] + shorts[j];
}
