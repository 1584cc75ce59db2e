//===- ConversionOps.td - Conversions between element types *- tablegen -*-===//
#ifndef CUDA_TILE_CONVERSION_OPS_TD
#define CUDA_TILE_CONVERSION_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_ExtIOp : CudaTile_Op<"exti",
    [Pure, CudaTile_SameShape<["from", "to"]>]> {
  let summary = "widens integers";
  let arguments = (ins CudaTile_IntOrI4Tile:$from,
                       CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_IntOrI4Tile:$to);
  let assemblyFormat = [{
    $from custom<Signedness>($signedness) attr-dict
    `:` custom<BareType>(type($from)) `->` custom<BareType>(type($to))
  }];
  let hasVerifier = 1;
}

def CudaTile_TruncIOp : CudaTile_Op<"trunci",
    [Pure, CudaTile_SameShape<["from", "to"]>]> {
  let summary = "narrows integers";
  let arguments = (ins CudaTile_IntOrI4Tile:$from,
    DefaultValuedAttr<CudaTile_IntegerOverflowAttr,
                      "::cuda_tile::IntegerOverflow::None">:$overflow);
  let results = (outs CudaTile_IntOrI4Tile:$to);
  let assemblyFormat = [{
    $from (`overflow` `` $overflow^)? attr-dict
    `:` custom<BareType>(type($from)) `->` custom<BareType>(type($to))
  }];
  let hasVerifier = 1;
}

def CudaTile_FToFOp : CudaTile_Op<"ftof",
    [Pure, CudaTile_SameShape<["from", "to"]>]> {
  let summary = "converts between floating-point formats";
  let description = [{
    Rounds to nearest even unless another mode is given that the formats
    support. A conversion to f8E8M0FNU, which has no sign and no mantissa,
    requires `zero` or `positive_inf`.
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$from,
    DefaultValuedAttr<CudaTile_RoundingModeAttr,
                      "::cuda_tile::RoundingMode::NearestEven">:$rounding_mode);
  let results = (outs CudaTile_AnyFloatTile:$to);
  let assemblyFormat = [{
    $from custom<ConversionRounding>($rounding_mode) attr-dict
    `:` custom<BareType>(type($from)) `->` custom<BareType>(type($to))
  }];
  let hasVerifier = 1;
}

def CudaTile_FToIOp : CudaTile_Op<"ftoi",
    [Pure, CudaTile_SameShape<["from", "to"]>]> {
  let summary = "converts floating-point numbers to integers";
  let description = [{
    Out-of-range values are undefined. With `saturating`, they are clamped to
    the integer's range, and NaN becomes zero.
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$from,
                       CudaTile_SignednessAttr:$signedness,
                       CudaTile_RoundingModeAttr:$rounding_mode,
                       UnitAttr:$saturating);
  let results = (outs CudaTile_IntTile:$to);
  let assemblyFormat = [{
    $from custom<Signedness>($signedness)
    custom<IntegralRounding>($rounding_mode) (`saturating` $saturating^)?
    attr-dict
    `:` custom<BareType>(type($from)) `->` custom<BareType>(type($to))
  }];
  let hasVerifier = 1;
}

def CudaTile_IToFOp : CudaTile_Op<"itof",
    [Pure, CudaTile_SameShape<["from", "to"]>]> {
  let summary = "converts integers to floating-point numbers";
  let arguments = (ins CudaTile_IntTile:$from,
                       CudaTile_SignednessAttr:$signedness,
                       CudaTile_RoundingModeAttr:$rounding_mode);
  let results = (outs CudaTile_AnyFloatTile:$to);
  let assemblyFormat = [{
    $from custom<Signedness>($signedness)
    custom<IEEERounding>($rounding_mode) attr-dict
    `:` custom<BareType>(type($from)) `->` custom<BareType>(type($to))
  }];
  let hasVerifier = 1;
}

class CudaTile_CastOp<string mnemonic, Type from, Type to>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_SameShape<["source", "result"]>]> {
  let arguments = (ins from:$source);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
}

def CudaTile_BitcastOp
    : CudaTile_CastOp<"bitcast", CudaTile_NumberTile, CudaTile_NumberTile> {
  let summary = "reinterprets the bits of each element";
  let hasVerifier = 1;
}
def CudaTile_PtrToIntOp
    : CudaTile_CastOp<"ptr_to_int", CudaTile_PtrTile, CudaTile_I64Tile> {
  let summary = "converts an address to an unsigned integer";
}
def CudaTile_IntToPtrOp
    : CudaTile_CastOp<"int_to_ptr", CudaTile_I64Tile, CudaTile_PtrTile> {
  let summary = "converts an unsigned integer to an address";
}
def CudaTile_PtrToPtrOp
    : CudaTile_CastOp<"ptr_to_ptr", CudaTile_PtrTile, CudaTile_PtrTile> {
  let summary = "changes the pointee type";
}

class CudaTile_PackingOp<string mnemonic, Type from, Type to>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_SameRank<["source", "result"]>]> {
  let arguments = (ins from:$source);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($source))
    `->` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}
def CudaTile_PackOp
    : CudaTile_PackingOp<"pack", CudaTile_NumberOrI4Tile, CudaTile_I8Tile> {
  let summary = "the bytes of a tile of rank 1";
}
def CudaTile_UnpackOp
    : CudaTile_PackingOp<"unpack", CudaTile_I8Tile, CudaTile_NumberOrI4Tile> {
  let summary = "bytes as a tile of rank 1";
}

#endif // CUDA_TILE_CONVERSION_OPS_TD
