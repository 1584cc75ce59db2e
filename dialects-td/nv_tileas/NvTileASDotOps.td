// The dots of nv_tileas.
#ifndef NV_TILEAS_DOT_OPS_TD
#define NV_TILEAS_DOT_OPS_TD

include "nv_tileas/NvTileASOps.td"

def NvTileAS_DotOp : NvTileAS_Op<"dot", NvTileAA_Product, [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "lhs * rhs + acc, by one kind of instruction";
  let description = [{
    The shapes are `MxK`, `KxN` and `MxN`, or the same after one batch dimension. `instruction` selects the
    instruction:

    * `fma`: scalar arithmetic. A thread holds all elements of both operands that its accumulators need.
    * `sync, [m, n, k]`: `mma.sync` of that shape. The accumulator is laid out in copies of the instruction's
      fragment, the operands in the matching operand fragments. If a dimension of the tile is smaller than the
      instruction's, it is repeated over lanes (M, N) or filled with zeros (K).
    * `block_scale, [m, n, k]`: the same with block scales, all of which are one. Only 8-bit floats with f32
      accumulators.

    The layouts of the operands follow from the accumulator's. Integer operands are signed unless the operand's flag
    says otherwise. `fast_acc` permits lower precision between instructions.

    ```mlir
    %d = nv_tileas.dot %a, %b, %c by <sync, [16, 8, 16]> : tensor<64x32xf16, #a>, tensor<32x64xf16, #b>, tensor<64x64xf32, #c>
    ```
  }];
  let arguments = (ins NvTileAS_Tensor:$lhs, NvTileAS_Tensor:$rhs, NvTileAS_Tensor:$acc,
      NvTileAS_MmaAttr:$instruction, UnitAttr:$lhsUnsigned, UnitAttr:$rhsUnsigned, UnitAttr:$fastAcc);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `by` $instruction (`lhs_unsigned` $lhsUnsigned^)? (`rhs_unsigned` $rhsUnsigned^)?
    (`fast_acc` $fastAcc^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_DotScaledOp : NvTileAS_Op<"block_scaled_mma", NvTileAA_Product, [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "block-scaled dot: operands have one scale per block of elements along K";
  let description = [{
    Like `dot`, with scales of shapes `MxS` and `SxN`, where `S` divides `K`. With `fma` and `sync`, a block is summed
    unscaled and its sum is then scaled, which is exact as long as an operand times its scale is representable in f32.
    A thread holds the scales of its accumulators' rows and columns. With `block_scale`, the instruction applies the
    scales.
  }];
  let arguments = (ins NvTileAS_Tensor:$lhs, NvTileAS_Tensor:$rhs, NvTileAS_Tensor:$acc,
      NvTileAS_Tensor:$lhsScale, NvTileAS_Tensor:$rhsScale, NvTileAS_MmaAttr:$instruction);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = [{
    $lhs `scale` $lhsScale `,` $rhs `scale` $rhsScale `,` $acc `by` $instruction attr-dict
    `:` type($lhs) `,` type($lhsScale) `,` type($rhs) `,` type($rhsScale) `,` type($acc)
  }];
  let hasVerifier = 1;
}

//===-- asynchronous dots ----------------------------------------------------//

// An operand that is read in place, from shared memory or registers.
def NvTileAS_ProductSide : AnyTypeOf<[NvTileAS_MemDescType, NvTileAS_Tensor], "memdesc or tensor with a layout">;

def NvTileAS_AsyncDotOp : NvTileAS_Op<"async.dot", NvTileAA_FixedLayouts,
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "issues lhs * rhs + acc; operands are read while the dot is in flight";
  let description = [{
    The shapes are `MxK`, `KxN` and `MxN`. Operands have a shared memory layout that the hardware supports
    (`tile_layout::HardwareLayout`). The instruction determines the storage of the accumulator.

    **In registers** (`warpgroup`). The accumulator is a tensor in the instruction's fragments, and so may `lhs` be. The
    instructions of one op form one group; groups complete in order. The result is not available before
    `async.dot_wait` returns it. Until then it may only be carried by a loop, be the accumulator of another
    asynchronous dot, or be a source of `async.dot_wait`.

    ```mlir
    %r = nv_tileas.async.dot %a, %b, %acc by <warpgroup, [64, 256, 16]>
        : !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>, !nv_tileas.memdesc<64x256xbf16, #b, align = 1024>, tensor<128x256xf32, #c>
    %done = nv_tileas.async.dot_wait %r pending 0 : tensor<128x256xf32, #c>
    ```

    **In tensor memory** (`tensor`). The accumulator is a memory descriptor, which the dot updates, and the op has no
    result. `lhs` may be in tensor memory too. If `accumulate` is false, the old contents are ignored: the result is the product alone. One thread issues
    the dot, inside `async.elect`. Dots of one thread complete in order, and the thread signals their completion with
    `consumer_release ... dots` or `producer_commit ... dots`.

    With `row_block N`, the op is the part of the dot with the rows of instruction N.

    With `tensor_pair`, a thread of the first CTA of a cluster issues the dot for two CTAs. The memory descriptors name
    the same places in both. Each CTA has M rows of `lhs` and `acc`, and half of the columns of `rhs`: the first
    CTA has the first half. The instruction has the rows of both.

    ```mlir
    nv_tileas.async.dot %a, %b, %m accumulate %more by <tensor, [128, 256, 16]>
        : !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>, !nv_tileas.memdesc<64x256xbf16, #b, align = 1024>, !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
    ```

    **With block scales.** Each `scaleBlock` elements of `lhs` and `rhs` along K have a scale factor in tensor memory
    (`space = scales`): `MxS` for `lhs` and `SxN` for `rhs`, where `S` scale factors cover K. Both extents are filled up
    with any values to the least that `tmem_copy` copies, 128 by 4.

    ```mlir
    nv_tileas.async.dot %a, %b, %m accumulate %more scales %s, %t per 32 by <tensor, [128, 256, 32]>
        : !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>, !nv_tileas.memdesc<128x256xf8E4M3FN, #b, align = 1024>, !nv_tileas.memdesc<128x256xf32, #m, space = tensor>
        scaled by !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>, !nv_tileas.memdesc<4x256xf8E8M0FNU, #t, space = scales>
    ```
  }];
  let arguments = (ins NvTileAS_ProductSide:$lhs, NvTileAS_MemDescType:$rhs, NvTileAS_ProductSide:$acc,
      Optional<I1>:$accumulate, Optional<NvTileAS_MemDescType>:$lhsScale, Optional<NvTileAS_MemDescType>:$rhsScale,
      NvTileAS_MmaAttr:$instruction, UnitAttr:$lhsUnsigned, UnitAttr:$rhsUnsigned,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$scaleBlock,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$rowBlock);
  let results = (outs Optional<NvTileAS_Tensor>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`accumulate` $accumulate^)? (`scales` $lhsScale^ `,` $rhsScale `per` $scaleBlock)?
    (`row_block` $rowBlock^)? `by` $instruction (`lhs_unsigned` $lhsUnsigned^)? (`rhs_unsigned` $rhsUnsigned^)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` custom<Accumulator>(type($acc), type($result))
    (`scaled` `by` type($lhsScale)^ `,` type($rhsScale))?
  }];
  let hasVerifier = 1;
}

def NvTileAS_PromotedDotOp : NvTileAS_Op<"promoted_dot", NvTileAA_FixedLayouts, [AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "lhs * rhs + acc on warpgroups, promoting partial sums of `depth` elements of K to f32";
  let description = [{
    The tensor cores accumulate products of 8-bit floats with less precision than f32. This op therefore sums `depth`
    elements of K at a time into a zero-initialized temporary accumulator in registers, waits for it, and adds it to
    the accumulator in f32. Operands are as in `async.dot`. When the op completes, nothing is in flight.

    ```mlir
    %r = nv_tileas.promoted_dot %a, %b, %acc by <warpgroup, [64, 128, 32]> depth 128
        : !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>, !nv_tileas.memdesc<128x256xf8E4M3FN, #b, align = 1024>, tensor<128x256xf32, #c>
    ```
  }];
  let arguments = (ins NvTileAS_ProductSide:$lhs, NvTileAS_MemDescType:$rhs, NvTileAS_Tensor:$acc,
      NvTileAS_MmaAttr:$instruction, ConfinedAttr<I64Attr, [IntPositive]>:$depth);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `by` $instruction `depth` $depth attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncDotWaitOp : NvTileAS_Op<"async.dot_wait", NvTileAA_FixedLayouts, [NvTileAA_TouchesAll]> {
  let summary = "waits until at most `pending` groups of dots are in flight";
  let description = [{
    The results are the sources, which are now available; `pending` is the number of groups issued after them. Without
    sources, the op only guarantees that the storage read by older groups may be overwritten.
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$sources, ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<NvTileAS_Tensor>:$results);
  let assemblyFormat = "($sources^)? `pending` $pending attr-dict (`:` type($sources)^ `->` type($results))?";
  let hasVerifier = 1;
}

#endif
