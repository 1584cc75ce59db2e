// arch: sm_80
// Cooperative groups: tiles, and labelled partitions of the active lanes.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const int* a, int* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = threadIdx.x, v = a[i];
    for (int o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_down(v, o);
    out[3 * i] = tile.shfl(v, 0);
    out[3 * i + 1] = tile.meta_group_rank();
    out[3 * i + 2] = -1;
    if (a[i] & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[3 * i + 2] = active.thread_rank() * 100 + active.size();
    }
}
