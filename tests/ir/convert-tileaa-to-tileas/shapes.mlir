nv_tileaa.func @elementwise(%x: f32) {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  %c = arith.constant dense<3> : tensor<1024xi32>
  %s = arith.addi %r, %c : tensor<1024xi32>
  %f = arith.sitofp %s : tensor<1024xi32> to tensor<1024xf32>
  %y = nv_tileaa.splat %x : f32 -> tensor<1024xf32>
  %z = arith.mulf %f, %y : tensor<1024xf32>
  nv_tileaa.return
}
nv_tileaa.func @small() {
  %r = nv_tileaa.make_range : tensor<16xi32>
  nv_tileaa.return
}
nv_tileaa.func @permute() {
  %r = nv_tileaa.make_range : tensor<2048xi32>
  %v = nv_tileaa.view %r : tensor<2048xi32> -> tensor<32x64xi32>
  %p = nv_tileaa.permute %v [1, 0] : tensor<32x64xi32> -> tensor<64x32xi32>
  nv_tileaa.return
}
nv_tileaa.func @broadcast() {
  %r = nv_tileaa.make_range : tensor<32xi32>
  %v = nv_tileaa.view %r : tensor<32xi32> -> tensor<32x1xi32>
  %b = nv_tileaa.broadcast %v : tensor<32x1xi32> -> tensor<32x16xi32>
  nv_tileaa.return
}
nv_tileaa.func @loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : tensor<1024xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<1024xf32>) : i32 {
    %s = arith.addf %a, %a : tensor<1024xf32>
    scf.yield %s : tensor<1024xf32>
  }
  nv_tileaa.return
}
nv_tileaa.func @own_warps() attributes {numWarps = 8 : i64} {
  %r = nv_tileaa.make_range : tensor<1024xi32>
  
  nv_tileaa.return
}
