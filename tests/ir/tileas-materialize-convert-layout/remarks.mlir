// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(tileas-materialize-convert-layout)'

#rows = #nv_tileas.layout<register = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#columns = #nv_tileas.layout<register = [32, 64, 16], lane = [128, 256, 512, 1, 2], warp = [4, 8]>
// No remark is emitted outside loops.
nv_tileaa.func @loop(%x: f32, %n: i32) attributes {numWarps = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = nv_tileas.splat %x : f32 -> tensor<32x32xf32, #rows>
  %b = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-remark @+1 {{ConversionInLoop: a tensor of 4096 bytes changes its layout through shared memory in every iteration}}
    %c = nv_tileas.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    // expected-remark @+1 {{ConversionInLoop: a tensor of 4096 bytes is sliced across threads through shared memory in every iteration}}
    %d = nv_tileas.extract_slice %a[%i, %c0] : tensor<32x32xf32, #rows> -> tensor<16x32xf32, #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [256, 128]>>
  }
  nv_tileaa.return
}
