// Counts the low bytes of eight values of each of 128 threads, in shared memory.

typedef __attribute__((address_space(3))) unsigned shared_unsigned;

void count_bytes(const unsigned *values, unsigned address) {
  // A pointer to shared memory has 32 bits in a library's interface, but 64 in clang.
  shared_unsigned *counts = (shared_unsigned *)(unsigned long)address;
  unsigned thread = __nvvm_read_ptx_sreg_tid_x();
  counts[thread] = 0;
  counts[thread + 128] = 0;
  __syncthreads();
  for (int i = 0; i < 8; ++i)
    __scoped_atomic_fetch_add(&counts[values[i] & 255], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}
