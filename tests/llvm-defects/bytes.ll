target triple = "nvptx64-nvidia-cuda"
define i1 @f(<4 x i8> %v) {
  %a = extractelement <4 x i8> %v, i32 0
  %b = extractelement <4 x i8> %v, i32 1
  %c = icmp sgt i8 %a, %b
  ret i1 %c
}
