//===- MemoryOps.td - Access through pointers, tokens ------*- tablegen -*-===//
//
// Only tokens order the operations whose name ends in `_tko`: two consecutive
// operations may execute in any order unless a chain of tokens connects them.
// They have no effect interface, which MLIR takes as "unknown effects", so no
// pass moves or removes them.
//
//===----------------------------------------------------------------------===//
#ifndef CUDA_TILE_MEMORY_OPS_TD
#define CUDA_TILE_MEMORY_OPS_TD

include "cuda_tile/CudaTileOpBase.td"

def CudaTile_OffsetOp : CudaTile_Op<"offset",
    [Pure, Elementwise, SameOperandsAndResultShape,
     CudaTile_SameType<["result", "ptr"]>]> {
  let summary = "address plus a signed offset in elements";
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
  let summary = "loads through a tile of pointers (gather)";
  let description = [{
    Lanes whose mask is 0 are not read; their result is the padding value, or
    unspecified without one.
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
  // value, and only its type distinguishes them.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_StorePtrTkoOp : CudaTile_Op<"store_ptr_tko",
    [AttrSizedOperandSegments,
     CudaTile_PointerTo<"destination", "value">,
     CudaTile_MaskShape<"destination",
       "shape of 'destination' must match the shape of 'mask'">]> {
  let summary = "stores through a tile of pointers (scatter)";
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
  let summary = "atomic compare-and-swap";
  let description = [{
    The comparison is bitwise, also for floating-point numbers. Returns the old
    value, and `cmp` for lanes whose mask is 0.
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
  let summary = "atomic read-modify-write";
  let description = "Returns the old value.";
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
  let summary = "scratch memory with the lifetime of its tile block";
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
  let summary = "the address of a global";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs CudaTile_ScalarPtr:$result);
  let assemblyFormat =
    "$name attr-dict `:` custom<BareType>(type($result))";
}

def CudaTile_MakeTokenOp : CudaTile_Op<"make_token", [Pure]> {
  let summary = "a token that waits for nothing";
  let results = (outs CudaTile_Token:$result);
  let assemblyFormat = "attr-dict `:` custom<BareType>(type($result))";
}

def CudaTile_JoinTokensOp : CudaTile_Op<"join_tokens", [Pure]> {
  let summary = "a token that waits for all operands";
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
  let summary = "permits dependent grids to start";
  let description = [{
    They start when all tile blocks have executed the op or have ended. The
    writes of this grid are not visible to them before they wait for its end. On
    targets below sm_90 the op does nothing.
  }];
}

def CudaTile_GdcWaitTkoOp : CudaTile_DependentGridOp<"gdc_wait_tko"> {
  let summary = "waits for the end of all grids that this one depends on";
  let description = [{
    Their writes are visible afterwards. On targets below sm_90 the op does
    nothing, because this grid starts after their end.
  }];
}

def CudaTile_MemoryFenceAliasTkoOp
    : CudaTile_Op<"memory_fence_alias_tko"> {
  let summary = "orders accesses to the same memory through several addresses";
  let description = [{
    Accesses that the operand waits for precede accesses that wait for the
    result, even if they reach the memory through different virtual addresses.
  }];
  let arguments = (ins CudaTile_Token:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = "$token attr-dict";
}

#endif // CUDA_TILE_MEMORY_OPS_TD
