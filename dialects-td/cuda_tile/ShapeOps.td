//===- ShapeOps.td - Creation and shape of tiles -----------*- tablegen -*-===//
#ifndef CUDA_TILE_SHAPE_OPS_TD
#define CUDA_TILE_SHAPE_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_ConstantOp : CudaTile_Op<"constant",
    [ConstantLike, Pure, CudaTile_ConstantType, CudaTile_NamesResult]> {
  let summary = "constant tile";
  let description = [{
    `constant <i32: 7> : tile<4xi32>`, `constant <f32: [1.0, 2.0]> : tile<2xf32>`.
  }];
  let arguments = (ins CudaTile_DenseElementsAttr:$value);
  let results = (outs CudaTile_NumberTile:$result);
  let assemblyFormat = [{
    custom<TypedLiteral>($value, type($result)) attr-dict
  }];
  let hasFolder = 1;
}

def CudaTile_IotaOp : CudaTile_Op<"iota", [Pure]> {
  let summary = "the numbers 0 to n - 1";
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = "attr-dict `:` custom<BareType>(type($result))";
  let hasVerifier = 1;
}

def CudaTile_BroadcastOp : CudaTile_Op<"broadcast",
    [Pure, SameOperandsAndResultElementType,
     CudaTile_SameRank<["source", "result"]>, CudaTile_NamesResult]> {
  let summary = "repeats a tile along dimensions of size 1";
  let arguments = (ins CudaTile_AnyTile:$source);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_ReshapeOp : CudaTile_Op<"reshape",
    [Pure, SameOperandsAndResultElementType, CudaTile_NamesResult]> {
  let summary = "the same elements, in row-major order, in another shape";
  let arguments = (ins CudaTile_AnyTile:$source);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_PermuteOp : CudaTile_Op<"permute",
    [Pure, CudaTile_SameElementType<["source", "result"]>,
     CudaTile_SameRank<["source", "result"]>]> {
  let summary = "reorders the dimensions";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the source.
  }];
  let arguments = (ins CudaTile_AnyTile:$source,
                       DenseI32ArrayAttr:$permutation);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source $permutation attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_CatOp : CudaTile_Op<"cat",
    [Pure, CudaTile_SameRank<["lhs", "rhs", "result"]>,
     CudaTile_SameElementType<["lhs", "rhs", "result"]>]> {
  let summary = "concatenates two tiles along one dimension";
  let arguments = (ins CudaTile_AnyTile:$lhs, CudaTile_AnyTile:$rhs,
                       I64Attr:$dim);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `dim` `=` $dim attr-dict
    `:` custom<BareType>(type($lhs)) `,` custom<BareType>(type($rhs))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_ExtractOp : CudaTile_Op<"extract",
    [Pure, CudaTile_SameRank<["source", "result"]>]> {
  let summary = "extracts one of the equal slices of a tile";
  let description = [{
    The indices are unsigned slice numbers, not element indices. An out-of-range
    slice is undefined behavior.
  }];
  let arguments = (ins CudaTile_AnyTile:$source,
                       Variadic<CudaTile_ScalarI32>:$indices);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source `` `[` $indices `]` attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_InsertOp : CudaTile_Op<"insert",
    [Pure, CudaTile_SameType<["destination", "result"]>]> {
  let summary = "replaces one of the equal slices of a tile";
  let description = [{
    The inverse of `extract`. The indices are unsigned slice numbers, not
    element indices. An out-of-range slice is undefined behavior.
  }];
  let arguments = (ins CudaTile_AnyTile:$source, CudaTile_AnyTile:$destination,
                       Variadic<CudaTile_ScalarI32>:$indices);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source `,` $destination `` `[` $indices `]` attr-dict
    `:` custom<BareType>(type($source)) `,` custom<BareType>(type($destination))
  }];
  let hasVerifier = 1;
}

#endif // CUDA_TILE_SHAPE_OPS_TD
