//===- ArithmeticOps.td - Arithmetic and comparison --------*- tablegen -*-===//
#ifndef CUDA_TILE_ARITHMETIC_OPS_TD
#define CUDA_TILE_ARITHMETIC_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

//===----------------------------------------------------------------------===//
// Floating point. Only f16, bf16, f32 and f64 support arithmetic; the other
// formats are for storage.
//===----------------------------------------------------------------------===//

class CudaTile_FloatUnaryOp<string mnemonic, list<Trait> extra = []>
    : CudaTile_Op<mnemonic,
        [Pure] # extra # [CudaTile_SameType<["source", "result"]>]> {
  let arguments = (ins CudaTile_FloatTile:$source);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($result))
  }];
}

class CudaTile_FloatBinaryOp<string mnemonic>
    : CudaTile_Op<mnemonic,
        [Pure, CudaTile_SameType<["lhs", "rhs", "result"]>]> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<BareType>(type($result))
  }];
}

class CudaTile_RoundedBinaryOp<string mnemonic, string directive>
    : CudaTile_FloatBinaryOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs,
                       CudaTile_RoundingModeAttr:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let assemblyFormat =
    "$lhs `,` $rhs custom<" # directive # ">($rounding_mode) "
    "(`flush_to_zero` $flush_to_zero^)? "
    "attr-dict `:` custom<BareType>(type($result))";
  let hasVerifier = 1;
}

class CudaTile_MinMaxFloatOp<string mnemonic>
    : CudaTile_FloatBinaryOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs,
                       UnitAttr:$propagate_nan, UnitAttr:$flush_to_zero);
  let assemblyFormat = [{
    $lhs `,` $rhs oilist(`flush_to_zero` $flush_to_zero
                         | `propagate_nan` $propagate_nan)
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_AbsFOp
    : CudaTile_FloatUnaryOp<"absf", [SameOperandsAndResultShape]> {
  let summary = "absolute value of floating-point tiles";
}
def CudaTile_NegFOp : CudaTile_FloatUnaryOp<"negf"> {
  let summary = "flips the sign bit";
}
def CudaTile_CeilOp : CudaTile_FloatUnaryOp<"ceil"> {
  let summary = "rounds up to an integral value";
}
def CudaTile_FloorOp : CudaTile_FloatUnaryOp<"floor"> {
  let summary = "rounds down to an integral value";
}

def CudaTile_AddFOp : CudaTile_RoundedBinaryOp<"addf", "IEEERounding"> {
  let summary = "floating-point sum";
  let hasCanonicalizeMethod = 1;
}
def CudaTile_SubFOp : CudaTile_RoundedBinaryOp<"subf", "IEEERounding"> {
  let summary = "floating-point difference";
}
def CudaTile_MulFOp : CudaTile_RoundedBinaryOp<"mulf", "IEEERounding"> {
  let summary = "floating-point product";
}
def CudaTile_DivFOp : CudaTile_RoundedBinaryOp<"divf", "DivRounding"> {
  let summary = "floating-point quotient";
  let description = [{
    `approx` multiplies by an approximate reciprocal; `full` is within 2 ulp
    over the whole range. Both require f32.
  }];
}

def CudaTile_FmaOp : CudaTile_Op<"fma",
    [Pure, CudaTile_SameType<["lhs", "rhs", "acc", "result"]>]> {
  let summary = "lhs * rhs + acc with one rounding";
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs,
                       CudaTile_FloatTile:$acc,
                       CudaTile_RoundingModeAttr:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc custom<IEEERounding>($rounding_mode)
    (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_MaxFOp : CudaTile_MinMaxFloatOp<"maxf"> {
  let summary = "greater of two floating-point numbers";
  let description = [{
    With `propagate_nan`, the result is NaN if either operand is (IEEE 754-2019
    maximum). Without it, a number takes precedence over NaN (maximumNumber). +0
    is greater than -0.
  }];
}
def CudaTile_MinFOp : CudaTile_MinMaxFloatOp<"minf"> {
  let summary = "lesser of two floating-point numbers";
  let description = "See `maxf` for NaN and signed zeros.";
}
def CudaTile_RemFOp : CudaTile_FloatBinaryOp<"remf"> {
  let summary = "remainder of the truncated quotient";
}

def CudaTile_CmpFOp : CudaTile_Op<"cmpf",
    [Pure, CudaTile_SameType<["lhs", "rhs"]>, CudaTile_I1ResultOfLhsShape]> {
  let summary = "floating-point comparison";
  let description = [{
    If an operand is NaN, `ordered` returns false and `unordered` returns true.
  }];
  let arguments = (ins
    CudaTile_ComparisonPredicateAttr:$comparison_predicate,
    CudaTile_ComparisonOrderingAttr:$comparison_ordering,
    CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs);
  let results = (outs CudaTile_I1Tile:$result);
  let assemblyFormat = [{
    custom<ComparisonPredicate>($comparison_predicate)
    custom<ComparisonOrdering>($comparison_ordering)
    $lhs `,` $rhs attr-dict `:` custom<BareType>(type($lhs))
    `->` custom<BareType>(type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Integers. They are signless; an attribute selects the signedness where it
// matters.
//===----------------------------------------------------------------------===//

class CudaTile_IntBinaryOp<string mnemonic>
    : CudaTile_Op<mnemonic,
        [Pure, CudaTile_SameType<["lhs", "rhs", "result"]>]> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<BareType>(type($result))
  }];
}

class CudaTile_OverflowBinaryOp<string mnemonic>
    : CudaTile_IntBinaryOp<mnemonic> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
    DefaultValuedAttr<CudaTile_IntegerOverflowAttr,
                      "::cuda_tile::IntegerOverflow::None">:$overflow);
  let assemblyFormat = [{
    $lhs `,` $rhs (`overflow` `` $overflow^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
}

class CudaTile_SignedBinaryOp<string mnemonic>
    : CudaTile_IntBinaryOp<mnemonic> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Signedness>($signedness)
    attr-dict `:` custom<BareType>(type($result))
  }];
}

def CudaTile_AbsIOp : CudaTile_Op<"absi",
    [Pure, SameOperandsAndResultShape,
     CudaTile_SameType<["source", "result"]>]> {
  let summary = "absolute value of integers";
  let description = "The operand is signed and the result unsigned.";
  let arguments = (ins CudaTile_IntTile:$source);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<BareType>(type($result))
  }];
}

def CudaTile_NegIOp : CudaTile_Op<"negi",
    [Pure, CudaTile_SameType<["source", "result"]>]> {
  let summary = "integer negation";
  let arguments = (ins CudaTile_IntTile:$source,
    DefaultValuedAttr<CudaTile_IntegerOverflowAttr,
                      "::cuda_tile::IntegerOverflow::None">:$overflow);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $source (`overflow` `` $overflow^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_AddIOp : CudaTile_OverflowBinaryOp<"addi"> {
  let summary = "integer sum";
}
def CudaTile_SubIOp : CudaTile_OverflowBinaryOp<"subi"> {
  let summary = "integer difference";
}
def CudaTile_MulIOp : CudaTile_OverflowBinaryOp<"muli"> {
  let summary = "lower half of the integer product";
}
def CudaTile_MulhiIOp : CudaTile_Op<"mulhii",
    [Pure, CudaTile_SameType<["x", "y", "result"]>]> {
  let summary = "upper half of the unsigned product";
  let arguments = (ins CudaTile_IntTile:$x, CudaTile_IntTile:$y);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $x `,` $y attr-dict `:` custom<BareType>(type($result))
  }];
}

// Division by zero is undefined behavior, so the op must not be speculated.
def CudaTile_DivIOp : CudaTile_Op<"divi",
    [NoMemoryEffect, CudaTile_SameType<["lhs", "rhs", "result"]>]> {
  let summary = "integer quotient";
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
    CudaTile_SignednessAttr:$signedness,
    DefaultValuedAttr<CudaTile_RoundingModeAttr,
                      "::cuda_tile::RoundingMode::Zero">:$rounding);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Signedness>($signedness)
    (`rounding` `` $rounding^)?
    attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_RemIOp : CudaTile_Op<"remi",
    [Pure, CudaTile_SameType<["result", "lhs", "rhs"]>,
     CudaTile_SameShape<["result", "lhs", "rhs"]>]> {
  let summary = "remainder of the truncated integer quotient";
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Signedness>($signedness)
    attr-dict `:` custom<BareType>(type($result))
  }];
}

def CudaTile_MaxIOp : CudaTile_SignedBinaryOp<"maxi"> {
  let summary = "greater of two integers";
}
def CudaTile_MinIOp : CudaTile_SignedBinaryOp<"mini"> {
  let summary = "lesser of two integers";
}
def CudaTile_ShLIOp : CudaTile_OverflowBinaryOp<"shli"> {
  let summary = "left shift by an unsigned amount";
}
def CudaTile_ShRIOp : CudaTile_SignedBinaryOp<"shri"> {
  let summary = "arithmetic or logical right shift";
}
def CudaTile_AndIOp : CudaTile_IntBinaryOp<"andi"> {
  let summary = "bitwise and";
}
def CudaTile_OrIOp : CudaTile_IntBinaryOp<"ori"> {
  let summary = "bitwise or";
}
def CudaTile_XOrIOp : CudaTile_IntBinaryOp<"xori"> {
  let summary = "bitwise exclusive or";
}

def CudaTile_CmpIOp : CudaTile_Op<"cmpi",
    [Pure, CudaTile_SameType<["lhs", "rhs"]>, CudaTile_I1ResultOfLhsShape]> {
  let summary = "integer comparison";
  let arguments = (ins
    CudaTile_ComparisonPredicateAttr:$comparison_predicate,
    CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
    CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_I1Tile:$result);
  let assemblyFormat = [{
    custom<ComparisonPredicate>($comparison_predicate)
    $lhs `,` $rhs `,` custom<Signedness>($signedness)
    attr-dict `:` custom<BareType>(type($lhs))
    `->` custom<BareType>(type($result))
  }];
}

def CudaTile_SelectOp : CudaTile_Op<"select",
    [Pure,
     CudaTile_SameType<["val_if_true", "val_if_false", "result"]>,
     CudaTile_SameShape<["cond", "val_if_true", "val_if_false", "result"]>]> {
  let summary = "elementwise selection";
  let arguments = (ins CudaTile_I1Tile:$cond, CudaTile_AnyTile:$val_if_true,
                       CudaTile_AnyTile:$val_if_false);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $cond `,` $val_if_true `,` $val_if_false attr-dict
    `:` custom<BareType>(type($cond)) `,` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // CUDA_TILE_ARITHMETIC_OPS_TD
