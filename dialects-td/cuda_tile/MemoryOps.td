//===- MemoryOps.td - Access through pointers, tokens ------*- tablegen -*-===//
//
// The operations whose name ends in `_tko` are ordered by tokens alone: two of
// them in a row may be executed in any order unless a chain of tokens connects
// them. They have no effect interface, which MLIR takes as "unknown effects", so
// that nothing moves or removes them.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_MEMORY_OPS_TD
#define CUDA_TILE_MEMORY_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_OffsetOp : CudaTile_Op<"offset",
    [Pure, Elementwise, SameOperandsAndResultShape,
     CudaTile_SameType<["result", "ptr"]>]> {
  let summary = "address plus a signed number of elements";
  let arguments = (ins CudaTile_PtrTile:$ptr, CudaTile_IntTile:$offset);
  let results = (outs CudaTile_PtrTile:$result);
  let assemblyFormat = [{
    $ptr `,` $offset attr-dict `:` custom<BareType>(type($ptr)) `,`
    custom<BareType>(type($offset)) `->` custom<BareType>(type($result))
  }];
}

def CudaTile_LoadPtrTkoOp : CudaTile_Op<"load_ptr_tko",
    [AttrSizedOperandSegments,
     CudaTile_PointerTo<"source", "result">,
     CudaTile_MaskShape<"source",
       "shape of 'mask' must match the shape of 'source'">,
     PredOpTrait<"type of 'paddingValue' must match the type of 'result'",
       CPred<"!getPaddingValue() || "
             "getPaddingValue().getType() == $result.getType()">>]> {
  let summary = "gather";
  let description = [{
    Lanes whose mask is 0 are not read; they give the padding value, or anything
    when there is none.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_PtrTile:$source, Optional<CudaTile_I1Tile>:$mask,
    Optional<CudaTile_NumberTile>:$paddingValue,
    Optional<CudaTile_Token>:$token,
    OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
  let results = (outs CudaTile_AnyTile:$result, CudaTile_Token:$result_token);
  // Not declarative: a single operand after the address is a mask or a padding
  // value, which only its type tells.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_StorePtrTkoOp : CudaTile_Op<"store_ptr_tko",
    [AttrSizedOperandSegments,
     CudaTile_PointerTo<"destination", "value">,
     CudaTile_MaskShape<"destination",
       "shape of 'destination' must match the shape of 'mask'">]> {
  let summary = "scatter";
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    OptionalAttr<CudaTile_MemoryScope>:$memory_scope,
    CudaTile_PtrTile:$destination, CudaTile_AnyTile:$value,
    Optional<CudaTile_I1Tile>:$mask, Optional<CudaTile_Token>:$token,
    OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    custom<PointerMemoryAttributes>($memory_ordering_semantics, $memory_scope)
    $destination `,` $value (`,` custom<Operand>($mask)^)? (`token` `` `=` `` custom<Operand>($token)^)?
    (`optimization_hints` `=` $optimization_hints^)? attr-dict
    `:` custom<BareType>(type($destination)) `,` custom<BareType>(type($value))
    (`,` custom<BareType>(type($mask))^)?
    `->` custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_AtomicCASTkoOp : CudaTile_Op<"atomic_cas_tko",
    [AttrSizedOperandSegments,
     CudaTile_SameShape<["pointers", "cmp", "val", "result"]>,
     CudaTile_SameType<["cmp", "val", "result"]>]> {
  let summary = "atomic compare and swap";
  let description = [{
    The comparison is of bits, for floating-point numbers too. Gives the old
    value; lanes whose mask is 0 give `cmp`.
  }];
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    CudaTile_MemoryScope:$memory_scope,
    CudaTile_PtrTile:$pointers, CudaTile_AnyTile:$cmp, CudaTile_AnyTile:$val,
    Optional<CudaTile_I1Tile>:$mask, Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_AnyTile:$result, CudaTile_Token:$result_token);
  let assemblyFormat = [{
    $memory_ordering_semantics $memory_scope
    $pointers `,` $cmp `,` $val (`,` custom<Operand>($mask)^)? (`token` `` `=` `` custom<Operand>($token)^)?
    attr-dict
    `:` custom<BareType>(type($pointers)) `,` custom<BareType>(type($val))
    (`,` custom<BareType>(type($mask))^)?
    `->` custom<BareType>(type($result)) `,`
    custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_AtomicRMWTkoOp : CudaTile_Op<"atomic_rmw_tko",
    [AttrSizedOperandSegments,
     CudaTile_SameShape<["pointers", "arg", "result"]>,
     CudaTile_SameType<["arg", "result"]>]> {
  let summary = "atomic read, modify and write";
  let description = "Gives the old value.";
  let arguments = (ins
    CudaTile_MemoryOrderingSemantics:$memory_ordering_semantics,
    CudaTile_MemoryScope:$memory_scope,
    CudaTile_PtrTile:$pointers, CudaTile_AtomicRMWMode:$mode,
    CudaTile_AnyTile:$arg, Optional<CudaTile_I1Tile>:$mask,
    Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_AnyTile:$result, CudaTile_Token:$result_token);
  let assemblyFormat = [{
    $memory_ordering_semantics $memory_scope
    $pointers `,` $mode `,` $arg (`,` custom<Operand>($mask)^)? (`token` `` `=` `` custom<Operand>($token)^)?
    attr-dict
    `:` custom<BareType>(type($pointers)) `,` custom<BareType>(type($arg))
    (`,` custom<BareType>(type($mask))^)?
    `->` custom<BareType>(type($result)) `,`
    custom<BareType>(type($result_token))
  }];
  let hasVerifier = 1;
}

def CudaTile_AllocaOp : CudaTile_Op<"alloca"> {
  let summary = "scratch memory that lives as long as its block";
  let arguments = (ins CudaTile_NonNegativeI64Attr:$num_elem,
                       CudaTile_NonNegativeI64Attr:$alignment,
                       UnitAttr:$global);
  let results = (outs CudaTile_ScalarPtr:$result);
  let assemblyFormat = [{
    `num_elem` `=` $num_elem `,` `alignment` `=` $alignment
    (`global` $global^)? attr-dict `:` custom<BareType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_GetGlobalOp : CudaTile_Op<"get_global",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "address of a global";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs CudaTile_ScalarPtr:$result);
  let assemblyFormat =
    "$name attr-dict `:` custom<BareType>(type($result))";
}

def CudaTile_MakeTokenOp : CudaTile_Op<"make_token", [Pure]> {
  let summary = "token that waits for nothing";
  let results = (outs CudaTile_Token:$result);
  let assemblyFormat = "attr-dict `:` custom<BareType>(type($result))";
}

def CudaTile_JoinTokensOp : CudaTile_Op<"join_tokens", [Pure]> {
  let summary = "token that waits for all operands";
  let arguments = (ins Variadic<CudaTile_Token>:$tokens);
  let results = (outs CudaTile_Token:$result);
  let assemblyFormat =
    "$tokens attr-dict `:` custom<BareType>(type($result))";
  let hasVerifier = 1;
}

class CudaTile_DependentGridOp<string mnemonic> : CudaTile_Op<mnemonic> {
  let arguments = (ins Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    (`token` `=` custom<Operand>($token)^)? attr-dict
    `->` custom<BareType>(type($result_token))
  }];
}

def CudaTile_GdcLaunchDependentsTkoOp
    : CudaTile_DependentGridOp<"gdc_launch_dependents_tko"> {
  let summary = "leave for the grids that depend on this one to start";
  let description = [{
    They start when all tile blocks have said so or have ended. What this grid
    wrote is not visible to them before they wait for its end. Nothing happens on
    targets below sm_90.
  }];
}

def CudaTile_GdcWaitTkoOp : CudaTile_DependentGridOp<"gdc_wait_tko"> {
  let summary = "wait for the end of all grids that this one depends on";
  let description = [{
    What they wrote is visible afterwards. Nothing happens on targets below sm_90,
    where this grid starts after their end.
  }];
}

def CudaTile_MemoryFenceAliasTkoOp
    : CudaTile_Op<"memory_fence_alias_tko"> {
  let summary = "order of accesses to the same memory by several addresses";
  let description = [{
    Accesses that the operand waits for come before those that wait for the
    result, also where one reaches the memory by another virtual address.
  }];
  let arguments = (ins CudaTile_Token:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = "$token attr-dict";
}

#endif // CUDA_TILE_MEMORY_OPS_TD
