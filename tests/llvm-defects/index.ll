target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %x, ptr addrspace(1) %out) {
  %low = and i32 %x, 127
  %sum = add nuw nsw i32 %low, 3
  %byte = trunc i32 %sum to i8
  %index = sext i8 %byte to i64
  %at = getelementptr i8, ptr addrspace(1) %p, i64 %index
  %v = load i8, ptr addrspace(1) %at
  store i8 %v, ptr addrspace(1) %out
  ret void
}
