// arch: sm_90a
// Distributed shared memory through cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2, 2, 1) void kernel(const int* in, int* out) {
    __shared__ int part[32];
    cg::cluster_group cluster = cg::this_cluster();
    int i = threadIdx.x, rank = cluster.block_rank();
    part[i] = in[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + i];
    cluster.sync();
    int sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += cluster.map_shared_rank(part, r)[(i + r) % 32];
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + i] = sum * 10 + rank;
    cluster.sync();
}
