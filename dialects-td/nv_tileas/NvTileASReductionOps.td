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
  let summary = "reduces a tensor along one dimension, which the results lack";
  let description = [{
    The body is associative. For each operand it takes two scalars, each the combination of some elements, and yields
    their combination. The order of elements is unspecified, but all threads that hold an element of a result hold the
    same bits.

    The layout of a result is the operand's without the coordinate along `dim`: registers along `dim` disappear, and
    lanes and warps along it all hold the result.

    `kept` is a mask of bits of the coordinate along `dim`. Only elements that agree in these bits are combined. The
    dimension remains, with one element per value of the kept bits. `tileas-materialize-reductions` keeps the bits
    that are spread over warps, and a second reduction combines the partial results of the warps.

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
  let summary = "inclusive scan along one dimension, starting from the last element with reverse";
  let description = [{
    The body is associative but need not be commutative. For each operand it takes the combination of a run of
    elements, then the combination of the run that follows in the direction of the scan. Results have the layouts of
    the operands.
  }];
  let arguments = (ins Variadic<NvTileAS_Tensor>:$operands, I64Attr:$dim, UnitAttr:$reverse, ArrayAttr:$identities);
  let results = (outs Variadic<NvTileAS_Tensor>:$results);
  let assemblyFormat = [{
    $operands `dim` $dim (`reverse` $reverse^)? `identities` $identities attr-dict
    `:` type($operands) `->` type($results) $body
  }];
}

def NvTileAS_CarryOp : NvTileAS_CombiningOp<"carry", NvTileAA_Collective, [AttrSizedOperandSegments]> {
  let summary = "combines the scans of segments into one scan";
  let description = [{
    Dimension `dim` numbers the segments, which were scanned along the next dimension. `totals` lack that next
    dimension and hold the last element of each scanned segment. Every element is combined with the totals of all
    earlier segments. Each thread holds the totals of all segments in its registers; the thread bits of all other
    dimensions agree with the segments'.
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
  let summary = "yields a body's combination, a chunk's tokens, or a producer's tile";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def NvTileAS_PickOp : NvTileAS_Op<"pick", NvTileAA_FixedLayouts, [Pure]> {
  let summary = "selects one coordinate along a dimension, which the result lacks";
  let description = [{
    The layout of the result is that of a reduction along `dim`: lanes and warps along `dim` all hold the element.
  }];
  let arguments = (ins NvTileAS_Tensor:$source, I64Attr:$dim, ConfinedAttr<I64Attr, [IntNonNegative]>:$at);
  let results = (outs NvTileAS_Value:$result);
  let assemblyFormat = "$source `dim` $dim `at` $at attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
