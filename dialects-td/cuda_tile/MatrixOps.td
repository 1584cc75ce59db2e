//===- MatrixOps.td - Matrix multiplication ------------------*- tablegen -*-===//
#ifndef CUDA_TILE_MATRIX_OPS_TD
#define CUDA_TILE_MATRIX_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

class CudaTile_MatrixOp<string mnemonic, Type acc, list<Trait> extra = []>
    : CudaTile_Op<mnemonic,
        [Pure, CudaTile_SameType<["acc", "result"]>,
         CudaTile_SameElementType<["lhs", "rhs"]>] # extra> {
  let results = (outs acc:$result);
  let hasVerifier = 1;
}

def CudaTile_MmaFOp : CudaTile_MatrixOp<"mmaf", CudaTile_MmafAccTile,
    [CudaTile_SameRank<["lhs", "rhs", "acc"]>]> {
  let summary = "floating-point matrix multiply-accumulate";
  let arguments = (ins CudaTile_MmafTile:$lhs, CudaTile_MmafTile:$rhs,
                       CudaTile_MmafAccTile:$acc, UnitAttr:$fast_acc);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict
    `:` custom<BareType>(type($lhs)) `,` custom<BareType>(type($rhs)) `,`
    custom<BareType>(type($acc))
  }];
}

def CudaTile_MmaIOp : CudaTile_MatrixOp<"mmai", CudaTile_MmaiAccTile,
    [CudaTile_SameRank<["lhs", "rhs", "acc"]>]> {
  let summary = "integer matrix multiply-accumulate";
  let arguments = (ins CudaTile_MmaiTile:$lhs, CudaTile_MmaiTile:$rhs,
                       CudaTile_MmaiAccTile:$acc,
                       CudaTile_SignednessAttr:$signedness_lhs,
                       CudaTile_SignednessAttr:$signedness_rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc custom<Signedness>($signedness_lhs)
    custom<Signedness>($signedness_rhs) attr-dict
    `:` custom<BareType>(type($lhs)) `,` custom<BareType>(type($rhs)) `,`
    custom<BareType>(type($acc))
  }];
}

def CudaTile_MmaFScaledOp
    : CudaTile_MatrixOp<"mmaf_scaled", CudaTile_MmafScaledAccTile,
        [CudaTile_SameElementType<["lhs_scale", "rhs_scale"]>,
         CudaTile_SameRank<["lhs", "rhs", "acc", "lhs_scale", "rhs_scale"]>]> {
  let summary = "matrix multiply-accumulate with one scale per block of elements along K";
  let arguments = (ins CudaTile_MmafScaledTile:$lhs,
                       CudaTile_MmafScaledTile:$rhs,
                       CudaTile_MmafScaledAccTile:$acc,
                       CudaTile_MmafScaleTile:$lhs_scale,
                       CudaTile_MmafScaleTile:$rhs_scale);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict
    `:` custom<BareType>(type($lhs)) `,` custom<BareType>(type($rhs)) `,`
    custom<BareType>(type($acc)) `,` custom<BareType>(type($lhs_scale)) `,`
    custom<BareType>(type($rhs_scale))
  }];
}

#endif // CUDA_TILE_MATRIX_OPS_TD
