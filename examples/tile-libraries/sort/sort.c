// Sorts the 32 keys of a warp, one in each lane, in ascending order.
//
// Bitonic sort (Batcher, "Sorting networks and their applications", 1968): runs of `size` keys, alternately ascending
// and descending, are merged to runs of twice that size. A step of a merge compares keys in lanes `step` apart.

void sort_row(int *key) {
  unsigned lane = __nvvm_read_ptx_sreg_laneid();
  int own = *key;
  for (unsigned size = 2; size <= 32; size *= 2) {
    int ascending = (lane & size) == 0;
    for (unsigned step = size / 2; step > 0; step /= 2) {
      int other = __nvvm_shfl_sync_bfly_i32(0xffffffff, own, step, 31);
      int is_lower = (lane & step) == 0;
      int keeps_smaller = is_lower == ascending;
      own = (other < own) == keeps_smaller ? other : own;
    }
  }
  *key = own;
}
