// Ops of nv_tileas that every element does exactly once, whatever the number of threads that hold it: atomic updates,
// scratch memory, printing. NvTileASOps.td includes this file.
#ifndef NV_TILEAS_MEMORY_OPS_TD
#define NV_TILEAS_MEMORY_OPS_TD

//===-- owners and replicas -------------------------------------------------//
// A layout may give an element to several threads and registers. Its *owner* is the one whose free bits are all zero (bits
// whose basis depends on the others', see `Layout::free_variables`). Ops that must happen once happen in the owners, and only
// the owners get the results; `replicate` passes them on to the other holders.

def NvTileAS_ReplicateOp : NvTileAS_Op<"replicate", NvTileAA_Collective, [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "the value that the owner of each element holds, in all of its holders";
  let description = [{
    Where owners are the only holders it is the identity. `tileas-materialize-convert-layout` sends what must cross warps through
    shared memory; what stays within warps becomes shuffles.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

//===-- atomic updates ------------------------------------------------------//
// Element by element, in no particular order among the elements; `ordering` and `scope` are those of each single
// update. Masked-off elements touch nothing. An `addf` on f32 flushes subnormals to zero, as the memory unit does.

def NvTileAS_AtomicRmwOp : NvTileAS_Op<"atomic_rmw", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic read, modify and write through pointers, at most `vector` neighbours along dimension `along` at a time";
  let description = "Gives the old values in the owners of the elements; where the mask is false, anything.";
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAS_Tensor:$ptr, NvTileAS_Tensor:$value,
      Optional<NvTileAS_Tensor>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, DefaultValuedAttr<I64Attr, "0">:$along);
  let results = (outs NvTileAS_Tensor:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $ptr `,` $value (`mask` $mask^ `:` type($mask))? (`token` $token^)?
    `vector` $vector (`along` $along^)? attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AtomicCasOp : NvTileAS_Op<"atomic_cas", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>, AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "atomic compare and swap through pointers; bits are compared, for floating-point numbers too";
  let description = "Gives the old values in the owners of the elements; where the mask is false, `compare`.";
  let arguments = (ins NvTileAS_Tensor:$ptr, NvTileAS_Tensor:$compare, NvTileAS_Tensor:$value,
      Optional<NvTileAS_Tensor>:$mask, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope);
  let results = (outs NvTileAS_Tensor:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering $scope $ptr `,` $compare `,` $value (`mask` $mask^ `:` type($mask))? (`token` $token^)?
    attr-dict `:` type($ptr) `,` type($value)
  }];
  let hasVerifier = 1;
}

def NvTileAS_TiledAtomicRmwOp : NvTileAS_Op<"tiled_atomic_rmw", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>]> {
  let summary = "atomic update of one tile of a view, at most `vector` elements at a time";
  let description = "Elements outside the memref are left alone.";
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAS_Tensor:$value, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $value `,` $view `[` $indices `]` (`token` $token^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

//===-- multicast memory ----------------------------------------------------//
// One address stands for a place in each of several memories. Two reads of it may combine them in different orders, so that
// copies of an element could differ: each element is read once, by its owner.

def NvTileAS_MultimemLoadReduceOp : NvTileAS_Op<"multimem_load_reduce", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "read one tile of a view in each memory behind it, at most `vector` elements at a time, and combine them";
  let description = "Gives the result in the owners of the elements.";
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token, NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAS_Tensor:$result, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering (`scope` $scope^)? $view `[` $indices `]` (`token` $token^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict
    `:` type($view) `[` type($indices) `]` `->` type($result)
  }];
  let hasVerifier = 1;
}

def NvTileAS_MultimemReduceOp : NvTileAS_Op<"multimem_reduce", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>]> {
  let summary = "atomic update of one tile of a view in each memory behind it, at most `vector` elements at a time";
  let description = "Elements outside the memref are left alone.";
  let arguments = (ins NvTileAA_AtomicKindAttr:$kind, NvTileAS_Tensor:$value, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, Optional<NvTileAA_MemTokenType>:$token,
      NvTileAA_OrderingAttr:$ordering, NvTileAA_ScopeAttr:$scope,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $kind $ordering $scope $value `,` $view `[` $indices `]` (`token` $token^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

def NvTileAS_MultimemStoreOp : NvTileAS_Op<"multimem_store", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_WritesGlobal]>]> {
  let summary = "write one tile of a view in each memory behind it, at most `vector` elements at a time";
  let arguments = (ins NvTileAS_Tensor:$value, NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      Optional<NvTileAA_MemTokenType>:$token, NvTileAA_OrderingAttr:$ordering, OptionalAttr<NvTileAA_ScopeAttr>:$scope,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ordering (`scope` $scope^)? $value `,` $view `[` $indices `]` (`token` $token^)?
    `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict
    `:` type($value) `,` type($view) `[` type($indices) `]`
  }];
  let hasVerifier = 1;
}

//===-- scratch memory ------------------------------------------------------//

def NvTileAS_HeapAllocOp : NvTileAS_Op<"heap_alloc", NvTileAA_Program, [MemoryEffects<[NvTileAA_AllocatesGlobal]>]> {
  let summary = "memory from the device's heap, allocated by one thread of the block, which traps when there is none";
  let description = "The address, in the owner of the one element of the result. It is a multiple of 16 bytes.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$bytes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_HeapFreeOp : NvTileAS_Op<"heap_free", NvTileAA_Program, [MemoryEffects<[NvTileAA_FreesGlobal]>]> {
  let summary = "gives memory back to the heap, once a block; all threads must be done with it";
  let arguments = (ins NvTileAA_PtrType:$ptr);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr)";
}

//===-- help for the programmer ---------------------------------------------//

def NvTileAS_PrintOp : NvTileAS_SyncOp<"print", NvTileAA_Program, NvTileAA_SyncScratchAndMeet,
    NvTileAA_ScopeAgent, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "formatted output in the manner of printf, by one thread of the block";
  let description = [{
    A tensor prints its elements in row-major order, in nested brackets. They reach the printing thread through `scratch`, one piece of
    shared memory for each tensor among the arguments, in order; `tileas-materialize-convert-layout` provides it. An op with
    scratch is a barrier: all threads of the block meet before its first access and after its last.
  }];
  let arguments = (ins StrAttr:$format,
      Variadic<AnyTypeOf<[NvTileAS_Scalar, NvTileAS_TensorOrArray]>>:$args,
      NvTileAS_ScratchStorage<Variadic<NvTileAS_MemDescType>>:$scratch,
      Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $format (`,` $args^ `:` type($args))? (`scratch` $scratch^ `:` type($scratch))? (`token` $token^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
