// Thin names for the asynchronous instructions that the tests use.
#pragma once

typedef unsigned long long u64;

struct __align__(64) Map { char bytes[128]; };

__device__ inline unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ inline void mbar_init(u64* bar, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory");
}
__device__ inline void mbar_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void mbar_expect(u64* bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) : "memory");
}
__device__ inline void mbar_arrive(u64* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(bar)) : "memory");
}
__device__ inline void mbar_wait(u64* bar, unsigned parity) {
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(smem(bar)), "r"(parity) : "memory");
}
__device__ inline void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void tma_load_2d(void* to, const Map* map, int x, int y, u64* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(smem(to)), "l"(map), "r"(x), "r"(y), "r"(smem(bar)) : "memory");
}
__device__ inline void tma_store_2d(const Map* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(smem(from)) : "memory");
}
__device__ inline void bulk_done() {
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Matrix descriptors: addresses and strides in bytes.
__device__ inline u64 wgmma_desc(const void* p, u64 lead, u64 stride, u64 swizzle) {
    return (u64)((smem(p) & 0x3ffff) >> 4) | (lead >> 4) << 16 | (stride >> 4) << 32 | swizzle << 62;
}
__device__ inline u64 tcgen05_desc(const void* p, u64 lead, u64 stride, u64 swizzle) {
    return (u64)((smem(p) & 0x3ffff) >> 4) | (lead >> 4) << 16 | (stride >> 4) << 32 | 1ull << 46 | swizzle << 61;
}
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_finish() {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
