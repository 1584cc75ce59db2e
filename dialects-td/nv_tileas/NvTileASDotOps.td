// Matrix products of nv_tileas.
#ifndef NV_TILEAS_DOT_OPS_TD
#define NV_TILEAS_DOT_OPS_TD

include "nv_tileas/NvTileASOps.td"

def NvTileAS_DotOp : NvTileAS_Op<"dot", NvTileAA_Product, [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "lhs * rhs + acc by one kind of instruction";
  let description = [{
    Shapes `MxK`, `KxN` and `MxN`, or the same behind one batch dimension. `instruction` says what multiplies:

    * `fma`: scalar arithmetic. A thread holds, of both operands, all that its accumulators need.
    * `sync, [m, n, k]`: `mma.sync` of that shape. The accumulator lies in copies of the instruction's fragment, the
      operands in the operand fragments that belong to it; a dimension of the tile that is smaller than the
      instruction's is repeated over lanes (M, N) or filled with zeros (K).

    The layouts of the operands follow from the accumulator's. Integer operands are signed unless the flag of the
    operand says otherwise. `fast_acc` allows less precision between instructions.

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
  let summary = "matrix product whose operands have a scale for each block of elements along K";
  let description = [{
    As `dot`, with scales of shapes `MxS` and `SxN`, where `S` divides `K`. By `fma` and `sync` the products of a block are
    summed unscaled and the sum is scaled, which is exact as long as an operand times its scale is a number of
    f32; a thread holds the scales of its accumulators' rows and columns. By `block_scale` the instruction scales.
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

//===-- asynchronous products ------------------------------------------------//

// A tile that is read where it lies, in shared memory or in registers.
def NvTileAS_ProductSide : AnyTypeOf<[NvTileAS_MemDescType, NvTileAS_Tensor], "memdesc or tensor with a layout">;

def NvTileAS_AsyncDotOp : NvTileAS_Op<"async.dot", NvTileAA_FixedLayouts, [AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "start lhs * rhs + acc by warpgroups; operands are read while it is under way";
  let description = [{
    `MxK`, `KxN` and `MxN`. Operands have a layout in shared memory that the hardware knows
    (`tile_layout::HardwareLayout`); `lhs` may instead be a tensor in the fragments of the instruction. The accumulator
    lies in fragments too. The products of one op are one group; groups complete in order.
    The result is not there before `async.dot_wait` says so: until then it may only be carried by a loop, be the
    accumulator of another product, or be waited for.

    ```mlir
    %r = nv_tileas.async.dot %a, %b, %acc by <warpgroup, [64, 256, 16]>
        : !nv_tileas.memdesc<128x64xbf16, #a, align = 1024>, !nv_tileas.memdesc<64x256xbf16, #b, align = 1024>, tensor<128x256xf32, #c>
    %done = nv_tileas.async.dot_wait %r pending 0 : tensor<128x256xf32, #c>
    ```
  }];
  let arguments = (ins NvTileAS_ProductSide:$lhs, NvTileAS_MemDescType:$rhs, NvTileAS_Tensor:$acc, NvTileAS_MmaAttr:$instruction, UnitAttr:$lhsUnsigned, UnitAttr:$rhsUnsigned);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `by` $instruction (`lhs_unsigned` $lhsUnsigned^)? (`rhs_unsigned` $rhsUnsigned^)?
    attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_PromotedDotOp : NvTileAS_Op<"promoted_dot", NvTileAA_FixedLayouts, [AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "lhs * rhs + acc by warpgroups, with sums of at most `depth` products made by the tensor cores";
  let description = [{
    The tensor cores add products of 8-bit floats with fewer bits than f32 has. So products are summed from zero over
    `depth` elements of K in registers beside the accumulator, waited for, and added to it as f32. Operands are those of
    `async.dot`. When the op is done nothing is under way.

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
  let summary = "wait until at most `pending` groups of products are under way";
  let description = [{
    Results are the sources, which are there now: `pending` groups were started after theirs. Without sources, storage that
    older groups read may be used again.
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$sources, ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<NvTileAS_Tensor>:$results);
  let assemblyFormat = "($sources^)? `pending` $pending attr-dict (`:` type($sources)^ `->` type($results))?";
  let hasVerifier = 1;
}

#endif
