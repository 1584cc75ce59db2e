// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s

#l = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128]>
#m = #nv_tileas.layout<register = [64, 128], lane = [1, 2, 4, 8, 16], warp = [32]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128]>
// CHECK: nv_tileaa.func @k
// CHECK-SAME: stages = 2>
// CHECK-SAME: space = tensor>
// CHECK-SAME: stages = 3, space = tensor>
nv_tileaa.func @k(%x: tensor<256xf32, #l>, %p: !nv_tileaa.ptr<f32>, %o: tensor<256xi32, #l>, %c: tensor<256xi1, #l>,
    %a: !nv_tileas.memdesc<256xf32, #s>, %b: !nv_tileas.memdesc<256xf32, #s, stages = 2>,
    %t: !nv_tileas.memdesc<256xf32, #s, space = tensor>, %u: !nv_tileas.memdesc<256xf32, #s, stages = 3, space = tensor>) {
  // CHECK: nv_tileas.copy %{{.*}} into %{{.*}} : tensor<256xf32, #{{[^>]*}}>> into !nv_tileas.memdesc<256xf32>
  nv_tileas.copy %x into %a : tensor<256xf32, #l> into !nv_tileas.memdesc<256xf32, #s>
  // CHECK: %{{.*}} = nv_tileas.copy %{{.*}} : !nv_tileas.memdesc<256xf32> -> tensor<256xf32, #{{[^>]*}}>>
  %y = nv_tileas.copy %a : !nv_tileas.memdesc<256xf32, #s> -> tensor<256xf32, #l>
  // CHECK: nv_tileas.copy %{{.*}} into %{{.*}} : !nv_tileas.memdesc<256xf32> into !nv_tileas.memdesc<256xf32, space = tensor>
  nv_tileas.copy %a into %t : !nv_tileas.memdesc<256xf32, #s> into !nv_tileas.memdesc<256xf32, #s, space = tensor>
  // CHECK: nv_tileas.gather_load <weak> %{{.*}}[%{{.*}}] mask %{{.*}} : tensor<256xi1, #{{[^>]*}}>> other %{{.*}} : tensor<256xf32, #{{[^>]*}}>> : <f32>[tensor<256xi32, #{{[^>]*}}>>] -> tensor<256xf32, #{{[^>]*}}>>
  %g, %gt = nv_tileas.gather_load <weak> %p[%o] mask %c : tensor<256xi1, #l> other %x : tensor<256xf32, #l> : !nv_tileaa.ptr<f32>[tensor<256xi32, #l>] -> tensor<256xf32, #l>
  // CHECK: nv_tileas.scatter_store <weak> %{{.*}}, %{{.*}}[%{{.*}}] token %{{.*}} : tensor<256xf32, #{{[^>]*}}>>, <f32>[tensor<256xi32, #{{[^>]*}}>>]
  %st = nv_tileas.scatter_store <weak> %g, %p[%o] token %gt : tensor<256xf32, #l>, !nv_tileaa.ptr<f32>[tensor<256xi32, #l>]
  // CHECK: nv_tileas.expand_dims %{{.*}}, 0 : tensor<256xf32, #{{[^>]*}}>> -> tensor<1x256xf32, #{{[^>]*}}>>
  %e = nv_tileas.expand_dims %x, 0 : tensor<256xf32, #l> -> tensor<1x256xf32, #l>
  // CHECK: nv_tileas.reinterpret %{{.*}} : tensor<256xf32, #{{[^>]*}}>> -> tensor<2x128xf32, #{{[^>]*}}>>
  %r = nv_tileas.reinterpret %x : tensor<256xf32, #l> -> tensor<2x128xf32, #m>
  // A group may have no copies.
  // CHECK: %[[G:.*]] = nv_tileas.async.commit{{$}}
  %group = nv_tileas.async.commit
  // CHECK-NEXT: %{{.*}} = nv_tileas.async.commit of %[[G]]
  %both = nv_tileas.async.commit of %group
  nv_tileaa.return
}
