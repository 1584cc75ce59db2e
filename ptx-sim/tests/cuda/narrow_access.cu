// arch: sm_80
// Loads and stores of bytes and halves with both extensions.
extern "C" __global__ void kernel(const signed char* a, const unsigned char* b, const short* c, int* out, unsigned char* bytes) {
    int i = threadIdx.x;
    out[i] = a[i] * 1000 + b[i] + c[i];
    bytes[i] = (unsigned char)(a[i] + b[i]);
    ((unsigned short*)(bytes + 64))[i] = (unsigned short)(c[i] * 3);
}
