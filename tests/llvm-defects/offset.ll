target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.tcgen05.ld.16x32bx2.x1(ptr addrspace(6), i64 immarg, i1 immarg)
define void @k(ptr addrspace(6) %t, ptr %out) {
  %v = call i32 @llvm.nvvm.tcgen05.ld.16x32bx2.x1(ptr addrspace(6) %t, i64 4294967298, i1 false)
  store i32 %v, ptr %out
  ret void
}
