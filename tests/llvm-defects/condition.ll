target triple = "nvptx64-nvidia-cuda"
define bfloat @f(i1 %c) {
  %r = sitofp i1 %c to bfloat
  ret bfloat %r
}
