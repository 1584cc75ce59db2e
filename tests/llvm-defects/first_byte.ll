target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(i8 %x, ptr addrspace(3) %p) {
  %v = insertelement <4 x i8> zeroinitializer, i8 %x, i64 1
  %w = bitcast <4 x i8> %v to i32
  br label %next
next:
  store i32 %w, ptr addrspace(3) %p
  ret void
}
