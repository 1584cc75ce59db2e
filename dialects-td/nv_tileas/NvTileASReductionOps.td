// Ops of nv_tileas that combine elements along one dimension.
#ifndef NV_TILEAS_REDUCTION_OPS_TD
#define NV_TILEAS_REDUCTION_OPS_TD

class NvTileAS_CombiningOp<string mnemonic, NvTileAA_Behaviour what, list<Trait> traits = []>
    : NvTileAS_Op<mnemonic, what, [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock] # traits> {
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def NvTileAS_ReduceOp : NvTileAS_CombiningOp<"reduce", NvTileAA_Reduction> {
  let summary = "combination of all elements along one dimension, which the results lack";
  let description = [{
    The body is associative. It takes two scalars for each operand, the combination of some elements and that of others, and
    yields the combination of all. The order of elements is not specified; every thread that holds an
    element of a result holds the same bits.

    A result lies where the operand's layout says when coordinates along `dim` are forgotten: registers along it
    disappear, lanes and warps along it all hold the result.

    With `kept`, a mask of bits of the coordinate along `dim`, only elements that agree in these bits are combined. The
    dimension stays, with one element for each value of the kept bits. `tileas-materialize-reductions` keeps the bits that
    warps hold, and a second reduction combines what the warps found.

    ```mlir
    %s = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<16x64xf32, #l> -> tensor<16xf32, #r> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$operands, I64Attr:$dim,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$kept, ArrayAttr:$identities);
  let results = (outs Variadic<NvTileAS_Value>:$results);
  let assemblyFormat = [{
    $operands `dim` $dim (`kept` $kept^)? `identities` $identities attr-dict `:` type($operands) `->` type($results) $body
  }];
}

def NvTileAS_ScanOp : NvTileAS_CombiningOp<"scan", NvTileAA_Collective> {
  let summary = "inclusive prefix combination along one dimension, from the last element with reverse";
  let description = [{
    The body is associative and may depend on the order of its arguments: for each operand it takes the combination of a run
    of elements, then that of the run that follows it in the direction of the scan. Results lie as the operands do.
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$operands, I64Attr:$dim, UnitAttr:$reverse, ArrayAttr:$identities);
  let results = (outs Variadic<NvTileAS_Tensor>:$results);
  let assemblyFormat = [{
    $operands `dim` $dim (`reverse` $reverse^)? `identities` $identities attr-dict
    `:` type($operands) `->` type($results) $body
  }];
}

def NvTileAS_CarryOp : NvTileAS_CombiningOp<"carry", NvTileAA_Collective, [AttrSizedOperandSegments]> {
  let summary = "scans of segments become one scan";
  let description = [{
    Dimension `dim` numbers segments that were scanned along the next dimension. `totals`, which lack that next dimension,
    are the last elements of the scanned segments. Every element is combined with the totals of all segments before its own.
    Each thread holds the totals of all segments in its registers, and thread bits of other dimensions agree.
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$scanned, Variadic<NvTileAS_Tensor>:$totals, I64Attr:$dim,
      UnitAttr:$reverse);
  let results = (outs Variadic<NvTileAS_Tensor>:$results);
  let assemblyFormat = [{
    $scanned `totals` $totals `dim` $dim (`reverse` $reverse^)? attr-dict
    `:` type($scanned) `totals` type($totals) `->` type($results) $body
  }];
}

def NvTileAS_YieldOp : NvTileAS_Op<"yield", NvTileAA_Program,
    [Pure, ReturnLike, Terminator, ParentOneOf<["ReduceOp", "ScanOp", "CarryOp", "RegisterLoopOp", "ProduceOneOp"]>]> {
  let summary = "the combination that a body computes, the tokens of a chunk, or the tile of a producer";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def NvTileAS_PickOp : NvTileAS_Op<"pick", NvTileAA_FixedLayouts, [Pure]> {
  let summary = "the elements with one coordinate along a dimension, which the result lacks";
  let description = [{
    The result lies as that of a reduction along `dim` does: lanes and warps along it all hold the element.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, I64Attr:$dim, ConfinedAttr<I64Attr, [IntNonNegative]>:$at);
  let results = (outs NvTileAS_Value:$result);
  let assemblyFormat = "$source `dim` $dim `at` $at attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
