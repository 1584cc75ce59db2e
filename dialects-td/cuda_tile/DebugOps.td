//===- DebugOps.td - Promises, assertions and printing -----*- tablegen -*-===//
#ifndef CUDA_TILE_DEBUG_OPS_TD
#define CUDA_TILE_DEBUG_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_AssumeOp : CudaTile_Op<"assume",
    [CudaTile_SameType<["value", "result"]>, CudaTile_NamesResult]> {
  let summary = "returns the operand with a promise about it";
  let arguments = (ins CudaTile_AssumePredicateAttrInterface:$predicate,
                       AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    custom<AssumePredicate>($predicate) `,` $value attr-dict
    `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_AssertOp : CudaTile_Op<"assert"> {
  let summary = "run-time check of each element";
  let arguments = (ins CudaTile_I1Tile:$condition, StrAttr:$message);
  let assemblyFormat = [{
    $condition `,` $message attr-dict `:` custom<BareType>(type($condition))
  }];
}

def CudaTile_PrintTkoOp : CudaTile_Op<"print_tko",
    [AttrSizedOperandSegments]> {
  let summary = "formatted output";
  let description = "The format is that of C's printf.";
  let arguments = (ins StrAttr:$str, Variadic<CudaTile_AnyTile>:$args,
                       Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    $str (`,` custom<Operands>($args)^)? (`token` `` `=` `` custom<Operand>($token)^)? attr-dict
    (`:` custom<BareTypes>(type($args))^)?
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Prints the op under the name that its container has for it.
    static ::mlir::OperationName::PrintAssemblyFn getPrintAssemblyFn();
  }];
}

#endif // CUDA_TILE_DEBUG_OPS_TD
