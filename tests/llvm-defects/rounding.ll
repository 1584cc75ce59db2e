target triple = "nvptx64-nvidia-cuda"
define bfloat @f(i32 %x) {
  %r = sitofp i32 %x to bfloat
  ret bfloat %r
}
