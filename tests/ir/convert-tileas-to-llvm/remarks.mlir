// RUN: tileiras-opt %s --remarks --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas{num-warps=4},tileas-assign-dot-layouts{compute-capability=sm_80},tileas-assign-load-store-layouts,tileas-remove-layout-conversions,tileas-materialize-convert-layout,tileas-optimize-alloc-tensor,convert-tileas-to-llvm{compute-capability=sm_80})'

// Optimizations that are not applied, with the reasons.
!view = !nv_tileaa.tiled_view<tile = [16, 16], memref<16x16xf32, strides = [16, 1]>>
!ragged = !nv_tileaa.tiled_view<tile = [512], memref<?xf32, strides = [1]>>
!sums = !nv_tileaa.tiled_view<tile = [512], memref<512xbf16, strides = [1]>>
!bytes = !nv_tileaa.tiled_view<tile = [32, 32], memref<32x32xf8E4M3FN, strides = [32, 1]>>
gpu.module @kernels {
  nv_tileaa.func @products(%p0: !nv_tileaa.ptr<f32>, %q0: !nv_tileaa.ptr<f8E4M3FN>) {
    %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
    %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<f8E4M3FN>
    %c0 = arith.constant 0 : i32
    %m = nv_tileaa.make_memref %p, shape = [], strides = [] : <f32> -> <16x16xf32, strides = [16, 1]>
    %v = nv_tileaa.make_tiled_view %m : <16x16xf32, strides = [16, 1]> -> !view
    %x, %t0 = nv_tileaa.tiled_load <weak> %v[%c0, %c0] : !view[i32, i32] -> tensor<16x16xf32>
    // expected-remark @+1 {{NoTensorCore: sm_80 has no matrix instruction for operands of type f32: the dot uses scalar instructions; round the operands to tf32 or bf16 if that is accurate enough}}
    %y = nv_tileaa.dot %x, %x, %x : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %t1 = nv_tileaa.tiled_store <weak> %y, %v[%c0, %c0] : tensor<16x16xf32>, !view[i32, i32]

    %mb = nv_tileaa.make_memref %q, shape = [], strides = [] : <f8E4M3FN> -> <32x32xf8E4M3FN, strides = [32, 1]>
    %vb = nv_tileaa.make_tiled_view %mb : <32x32xf8E4M3FN, strides = [32, 1]> -> !bytes
    %b, %t2 = nv_tileaa.tiled_load <weak> %vb[%c0, %c0] : !bytes[i32, i32] -> tensor<32x32xf8E4M3FN>
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    // expected-remark @+2 {{EmulatedType: conversions from and to f8E4M3FN take several instructions; convert once, outside of loops}}
    // expected-remark @+1 {{WidenedOperands: sm_80 has no matrix instruction for operands of type f8E4M3FN: they are widened to f16, which halves the rate}}
    %d = nv_tileaa.dot %b, %b, %zero : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>, tensor<32x32xf32>
    // expected-remark @+1 {{EmulatedType}}
    %e = nv_tileaa.fp_cast %d : tensor<32x32xf32> -> tensor<32x32xf8E4M3FN>
    %t3 = nv_tileaa.tiled_store <weak> %e, %vb[%c0, %c0] : tensor<32x32xf8E4M3FN>, !bytes[i32, i32]
    nv_tileaa.return
  }
  nv_tileaa.func @memory(%p0: !nv_tileaa.ptr<f32>, %q0: !nv_tileaa.ptr<bf16>, %n: i32, %i: i32) {
    %p = nv_tileaa.assume #cuda_tile.div_by<16>, %p0 : !nv_tileaa.ptr<f32>
    %q = nv_tileaa.assume #cuda_tile.div_by<16>, %q0 : !nv_tileaa.ptr<bf16>
    %c0 = arith.constant 0 : i32
    // expected-remark @+1 {{WideOffsets: offsets need 64 bits: the view may span 4 GiB or more; give the view constant extents and strides if they are known, or set index-bitwidth to 32}}
    %m = nv_tileaa.make_memref %p, shape = [%n : i32], strides = [] : <f32> -> <?xf32, strides = [1]>
    %v = nv_tileaa.make_tiled_view %m : <?xf32, strides = [1]> -> !ragged
    // expected-remark @+1 {{MaskedEdge: tiles at the edge are accessed one element at a time: the view's extent is not known to be a multiple of the vector width; promise the divisibility of the extent with assume div_by, or pad the tensor}}
    %x, %t0 = nv_tileaa.tiled_load <weak> %v[%i] : !ragged[i32] -> tensor<512xf32>
    %ms = nv_tileaa.make_memref %q, shape = [], strides = [] : <bf16> -> <512xbf16, strides = [1]>
    %vs = nv_tileaa.make_tiled_view %ms : <512xbf16, strides = [1]> -> !sums
    %h = arith.truncf %x : tensor<512xf32> to tensor<512xbf16>
    // expected-remark @+2 {{DependsOnTiming: floats are added in the order of arrival, so the bits of the sum may differ from run to run}}
    // expected-remark @+1 {{AtomicLoop: sm_80 has no atomic addition of bf16: a compare-and-swap loop emulates it; accumulate in f32 if memory allows}}
    %t1 = nv_tileaa.tiled_atomic_rmw <addf> <relaxed> <device> %h, %vs[%c0] : tensor<512xbf16>, !sums[i32]
    nv_tileaa.return
  }
}
