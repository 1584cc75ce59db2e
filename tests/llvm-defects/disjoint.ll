target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i64 %base, ptr addrspace(1) %out, i32 %row, i32 %column) {
  %first = shl nuw nsw i32 %row, 2
  %few = icmp ult i32 %column, 4
  %either = or disjoint i32 %first, %column
  %wide = zext nneg i32 %either to i64
  %small = add i64 %base, %wide
  br i1 %few, label %yes, label %no
yes:
  store i64 %small, ptr addrspace(1) %out
  br label %no
no:
  %sum = add nuw nsw i32 %first, %column
  %other = zext nneg i32 %sum to i64
  %scaled = mul i64 %base, 4
  %large = add i64 %scaled, %other
  %at = getelementptr i64, ptr addrspace(1) %out, i64 1
  store i64 %large, ptr addrspace(1) %at
  ret void
}
