target triple = "nvptx64-nvidia-cuda"
declare { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %s, double %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %t, 20
  %at = getelementptr double, ptr addrspace(1) %p, i32 %t
  br i1 %inside, label %read, label %product
read:
  %loaded = load double, ptr addrspace(1) %at
  br label %product
product:
  %a = phi double [ %loaded, %read ], [ 0.0, %0 ]
  %sums = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double %a, double %x, double 0.0, double 0.0)
  %d = extractvalue { double, double } %sums, 0
  store double %d, ptr addrspace(3) %s
  br i1 %inside, label %write, label %end
write:
  store double 0.0, ptr addrspace(1) %at
  br label %end
end:
  ret void
}
