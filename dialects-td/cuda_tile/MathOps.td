//===- MathOps.td - Elementary functions -------------------*- tablegen -*-===//
#ifndef CUDA_TILE_MATH_OPS_TD
#define CUDA_TILE_MATH_OPS_TD

include "cuda_tile/ArithmeticOps.td"

class CudaTile_FlushingUnaryOp<string mnemonic>
    : CudaTile_FloatUnaryOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$source, UnitAttr:$flush_to_zero);
  let assemblyFormat = [{
    $source (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

class CudaTile_ApproximableUnaryOp<string mnemonic>
    : CudaTile_FloatUnaryOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$source,
    DefaultValuedAttr<CudaTile_RoundingModeAttr,
                      "::cuda_tile::RoundingMode::Full">:$rounding_mode);
  let assemblyFormat = [{
    $source custom<ApproxOrFullRounding>($rounding_mode)
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_ExpOp : CudaTile_ApproximableUnaryOp<"exp"> {
  let summary = "e to the power of x";
}
def CudaTile_TanHOp : CudaTile_ApproximableUnaryOp<"tanh"> {
  let summary = "hyperbolic tangent";
}
def CudaTile_Exp2Op : CudaTile_FlushingUnaryOp<"exp2"> {
  let summary = "2 to the power of x";
}
def CudaTile_RsqrtOp : CudaTile_FlushingUnaryOp<"rsqrt"> {
  let summary = "reciprocal of the square root";
}
def CudaTile_SqrtOp : CudaTile_FloatUnaryOp<"sqrt"> {
  let summary = "square root";
  let arguments = (ins CudaTile_FloatTile:$source,
                       CudaTile_RoundingModeAttr:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let assemblyFormat = [{
    $source custom<SqrtRounding>($rounding_mode)
    (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}
def CudaTile_LogOp : CudaTile_FloatUnaryOp<"log"> {
  let summary = "natural logarithm";
}
def CudaTile_Log2Op : CudaTile_FloatUnaryOp<"log2"> {
  let summary = "logarithm to base 2";
}
def CudaTile_SinOp : CudaTile_FloatUnaryOp<"sin"> {
  let summary = "sine";
}
def CudaTile_CosOp : CudaTile_FloatUnaryOp<"cos"> {
  let summary = "cosine";
}
def CudaTile_TanOp : CudaTile_FloatUnaryOp<"tan"> {
  let summary = "tangent";
}
def CudaTile_SinHOp : CudaTile_FloatUnaryOp<"sinh"> {
  let summary = "hyperbolic sine";
}
def CudaTile_CosHOp : CudaTile_FloatUnaryOp<"cosh"> {
  let summary = "hyperbolic cosine";
}

def CudaTile_PowOp : CudaTile_Op<"fpowf",
    [Pure, CudaTile_SameType<["result", "source", "exponent"]>,
     CudaTile_SameRank<["source", "exponent", "result"]>]> {
  let summary = "source to the power of exponent";
  let arguments = (ins CudaTile_FloatTile:$source,
                       CudaTile_FloatTile:$exponent);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source `,` $exponent attr-dict `:` custom<BareType>(type($result))
  }];
}

def CudaTile_FPowIOp : CudaTile_Op<"fpowi",
    [Pure, CudaTile_SameType<["result", "source"]>,
     CudaTile_SameShape<["source", "exponent"]>]> {
  let summary = "source to the power of an integer";
  let description = [{
    The exponent is signed. Anything to the power of zero is one.
  }];
  let arguments = (ins CudaTile_FloatTile:$source,
                       CudaTile_SmallIntTile:$exponent);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source `,` $exponent attr-dict `:` custom<BareType>(type($source)) `,`
    custom<BareType>(type($exponent))
  }];
}

def CudaTile_Atan2Op : CudaTile_Op<"atan2",
    [Pure, CudaTile_SameType<["x", "y", "result"]>]> {
  let summary = "angle whose tangent is x / y";
  let description = [{
    The first operand is the numerator. The signs of both determine the
    quadrant.
  }];
  let arguments = (ins CudaTile_FloatTile:$x, CudaTile_FloatTile:$y);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $x `,` $y attr-dict `:` custom<BareType>(type($result))
  }];
}

#endif // CUDA_TILE_MATH_OPS_TD
