// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_100 dynamic-persistent=false})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_110 dynamic-persistent=false})' | FileCheck %s
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileaa-plan-dots{compute-capability=sm_90})' | FileCheck %s --check-prefix=OTHER
// Dots with block scales accumulate in tensor memory on targets with `tcgen05.mma`.
// OTHER-NOT: dot_plan

!a = !nv_tileaa.tiled_view<tile = [128, 128], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>
!b = !nv_tileaa.tiled_view<tile = [128, 64], memref<?x?xf8E4M3FN, strides = [1, ?]>, padding = zero>
!sa = !nv_tileaa.tiled_view<tile = [128, 4], memref<?x?xf8E8M0FNU, strides = [?, 1]>>
!sb = !nv_tileaa.tiled_view<tile = [4, 64], memref<?x?xf8E8M0FNU, strides = [1, ?]>>
!c = !nv_tileaa.tiled_view<tile = [128, 64], memref<128x64xf32, strides = [64, 1]>>

// Four warps bring scale factors that are stored by rows.
// CHECK-LABEL: nv_tileaa.func @rows(
// CHECK-SAME: agents = [<"consumers", warps = {{[0-9]+}}>, <"producer", warps = 1>, <"matrix", warps = 1>, <"scales", warps = 4>], unit = tensor
// CHECK: nv_tileaa.dot_scaled {{.*}} {nv_tileas.producer_computed = array<i64: -1, -1, -1, 1, 0>}
nv_tileaa.func @rows(%p0: !nv_tileaa.ptr<f8E4M3FN>, %q0: !nv_tileaa.ptr<f8E8M0FNU>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %k0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f8E4M3FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E8M0FNU>
  %m = nv_tileaa.assume #cuda_tile.div_by<16>, %m0 : i32
  %k = nv_tileaa.assume #cuda_tile.div_by<16>, %k0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%k, %m : i32, i32], strides = [%k : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [1, ?]>
  %msa = nv_tileaa.make_memref %q, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [?, 1]>
  %msb = nv_tileaa.make_memref %q, shape = [%k, %m : i32, i32], strides = [%k : i32] : <f8E8M0FNU> -> <?x?xf8E8M0FNU, strides = [1, ?]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf8E4M3FN, strides = [?, 1]> -> !a
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf8E4M3FN, strides = [1, ?]> -> !b
  %vsa = nv_tileaa.make_tiled_view %msa : <?x?xf8E8M0FNU, strides = [?, 1]> -> !sa
  %vsb = nv_tileaa.make_tiled_view %msb : <?x?xf8E8M0FNU, strides = [1, ?]> -> !sb
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%c0, %i] : !a[i32, i32] -> tensor<128x128xf8E4M3FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%i, %c0] : !b[i32, i32] -> tensor<128x64xf8E4M3FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vsa[%c0, %i] : !sa[i32, i32] -> tensor<128x4xf8E8M0FNU>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vsb[%i, %c0] : !sb[i32, i32] -> tensor<4x64xf8E8M0FNU>
    %d = nv_tileaa.dot_scaled %a scale %sa, %b scale %sb, %acc : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>, tensor<128x64xf8E4M3FN>, tensor<4x64xf8E8M0FNU>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <128x64xf32, strides = [64, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <128x64xf32, strides = [64, 1]> -> !c
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%c0, %c0] : tensor<128x64xf32>, !c[i32, i32]
  nv_tileaa.return
}

!pc = !nv_tileaa.tiled_view<tile = [128, 128], memref<128x128xf32, strides = [128, 1]>>
!wide_a = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x?xf4E2M1FN, strides = [?, 1]>, padding = zero>
!wide_b = !nv_tileaa.tiled_view<tile = [256, 128], memref<?x?xf4E2M1FN, strides = [1, ?]>, padding = zero>
!wide_sa = !nv_tileaa.tiled_view<tile = [128, 16], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>
!wide_sb = !nv_tileaa.tiled_view<tile = [16, 128], memref<?x?xf8E4M3FN, strides = [?, 1]>, padding = zero>

// TMA loads rows of 16 scale factors, and 128 of a column, and the converter rearranges both.
// CHECK-LABEL: nv_tileaa.func @wide(
// CHECK-SAME: agents = [<"consumers", warps = {{[0-9]+}}>, <"producer", warps = 1>, <"matrix", warps = 1>, <"converter", warps = 4>], unit = tensor
// CHECK-NOT: producer_computed
nv_tileaa.func @wide(%p0: !nv_tileaa.ptr<f4E2M1FN>, %q0: !nv_tileaa.ptr<f8E4M3FN>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32, %k0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f4E2M1FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.assume #cuda_tile.div_by<32>, %m0 : i32
  %k = nv_tileaa.assume #cuda_tile.div_by<32>, %k0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f4E2M1FN> -> <?x?xf4E2M1FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%k, %m : i32, i32], strides = [%k : i32] : <f4E2M1FN> -> <?x?xf4E2M1FN, strides = [1, ?]>
  %msa = nv_tileaa.make_memref %q, shape = [%m, %k : i32, i32], strides = [%k : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [?, 1]>
  %msb = nv_tileaa.make_memref %q, shape = [%k, %m : i32, i32], strides = [%m : i32] : <f8E4M3FN> -> <?x?xf8E4M3FN, strides = [?, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x?xf4E2M1FN, strides = [?, 1]> -> !wide_a
  %vb = nv_tileaa.make_tiled_view %mb : <?x?xf4E2M1FN, strides = [1, ?]> -> !wide_b
  %vsa = nv_tileaa.make_tiled_view %msa : <?x?xf8E4M3FN, strides = [?, 1]> -> !wide_sa
  %vsb = nv_tileaa.make_tiled_view %msb : <?x?xf8E4M3FN, strides = [?, 1]> -> !wide_sb
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%c0, %i] : !wide_a[i32, i32] -> tensor<128x256xf4E2M1FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%i, %c0] : !wide_b[i32, i32] -> tensor<256x128xf4E2M1FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vsa[%c0, %i] : !wide_sa[i32, i32] -> tensor<128x16xf8E4M3FN>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vsb[%i, %c0] : !wide_sb[i32, i32] -> tensor<16x128xf8E4M3FN>
    %d = nv_tileaa.dot_scaled %a scale %sa, %b scale %sb, %acc : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>, tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <128x128xf32, strides = [128, 1]> -> !pc
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%c0, %c0] : tensor<128x128xf32>, !pc[i32, i32]
  nv_tileaa.return
}

!pa = !nv_tileaa.tiled_view<tile = [128, 256], memref<?x256xf4E2M1FN, strides = [?, 1]>, padding = zero>
!pb = !nv_tileaa.tiled_view<tile = [256, 128], memref<256x?xf4E2M1FN, strides = [1, ?]>, padding = zero>
!blocks = !nv_tileaa.tiled_view<tile = [1, 4, 32, 4, 4], memref<?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]>>

// The producer copies scale factors that are stored in blocks: no agent brings them.
// CHECK-LABEL: nv_tileaa.func @blocks(
// CHECK-SAME: agents = [<"consumers", warps = {{[0-9]+}}>, <"producer", warps = 1>, <"matrix", warps = 1>], unit = tensor
// CHECK-NOT: producer_computed
nv_tileaa.func @blocks(%p0: !nv_tileaa.ptr<f4E2M1FN>, %q0: !nv_tileaa.ptr<f8E4M3FN>, %o: !nv_tileaa.ptr<f32>, %n: i32, %m0: i32) {
  %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f4E2M1FN>
  %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E4M3FN>
  %m = nv_tileaa.assume #cuda_tile.div_by<32>, %m0 : i32
  %ma = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <?x256xf4E2M1FN, strides = [?, 1]>
  %mb = nv_tileaa.make_memref %p, shape = [%m : i32], strides = [%m : i32] : <f4E2M1FN> -> <256x?xf4E2M1FN, strides = [1, ?]>
  %ms = nv_tileaa.make_memref %q, shape = [%m : i32], strides = [] : <f8E4M3FN> -> <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]>
  %va = nv_tileaa.make_tiled_view %ma : <?x256xf4E2M1FN, strides = [?, 1]> -> !pa
  %vb = nv_tileaa.make_tiled_view %mb : <256x?xf4E2M1FN, strides = [1, ?]> -> !pb
  %vs = nv_tileaa.make_tiled_view %ms : <?x4x32x4x4xf8E4M3FN, strides = [2048, 512, 16, 4, 1]> -> !blocks
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %a, %t1 = nv_tileaa.tiled_load <weak> %va[%i, %c0] : !pa[i32, i32] -> tensor<128x256xf4E2M1FN>
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%c0, %i] : !pb[i32, i32] -> tensor<256x128xf4E2M1FN>
    %sa, %t3 = nv_tileaa.tiled_load <weak> %vs[%i, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa1 = nv_tileaa.permute %sa [0, 3, 2, 1, 4] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<1x4x32x4x4xf8E4M3FN>
    %sa2 = nv_tileaa.view %sa1 : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<128x16xf8E4M3FN>
    %sb, %t4 = nv_tileaa.tiled_load <weak> %vs[%i, %c0, %c0, %c0, %c0] : !blocks[i32, i32, i32, i32, i32] -> tensor<1x4x32x4x4xf8E4M3FN>
    %sb1 = nv_tileaa.permute %sb [1, 4, 0, 3, 2] : tensor<1x4x32x4x4xf8E4M3FN> -> tensor<4x4x1x4x32xf8E4M3FN>
    %sb2 = nv_tileaa.view %sb1 : tensor<4x4x1x4x32xf8E4M3FN> -> tensor<16x128xf8E4M3FN>
    %d = nv_tileaa.dot_scaled %a scale %sa2, %b scale %sb2, %acc : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>, tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %mo = nv_tileaa.make_memref %o, shape = [], strides = [] : <f32> -> <128x128xf32, strides = [128, 1]>
  %vo = nv_tileaa.make_tiled_view %mo : <128x128xf32, strides = [128, 1]> -> !pc
  %t5 = nv_tileaa.tiled_store <weak> %sum, %vo[%c0, %c0] : tensor<128x128xf32>, !pc[i32, i32]
  nv_tileaa.return
}
