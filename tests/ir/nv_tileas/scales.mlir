// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// Scale factors in tensor memory: a copy from shared memory, and a dot that reads them.
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

// CHECK-LABEL: nv_tileaa.func @f(
nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %t: !t, %more: i1) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // CHECK: nv_tileas.tmem_copy %{{.*}}, %[[S:.*]] : <128x4xf8E8M0FNU, #{{.*}}>, <128x4xf8E8M0FNU, {{.*}}, space = scales>
    nv_tileas.tmem_copy %from, %s : !from, !s
    // CHECK: nv_tileas.async.dot %{{.*}} accumulate %{{.*}} scales %[[S]], %{{.*}} per 32 by <tensor, [128, 64, 32]>
    // CHECK-SAME: space = tensor> scaled by !nv_tileas.memdesc<128x4xf8E8M0FNU, {{.*}}, space = scales>, !nv_tileas.memdesc<4x128xf8E8M0FNU, {{.*}}, space = scales>
    nv_tileas.async.dot %a, %b, %m accumulate %more scales %s, %t per 32 by <tensor, [128, 64, 32]> : !a, !b, !m scaled by !s, !t
  }
  nv_tileaa.return
}
