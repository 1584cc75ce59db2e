target triple = "nvptx64-nvidia-cuda"
define void @f(<2 x float> %v, ptr %p) {
  %h = fptrunc <2 x float> %v to <2 x half>
  store <2 x half> %h, ptr %p, align 4
  ret void
}
