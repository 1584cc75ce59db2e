// Ops of nv_tileas that happen exactly once per element, even if several threads hold it: atomic updates, scratch
// memory, printing. Included by NvTileASOps.td.
#ifndef NV_TILEAS_MEMORY_OPS_TD
#define NV_TILEAS_MEMORY_OPS_TD

//===-- owners and replicas -------------------------------------------------//
// A layout may assign an element to several threads and registers. The *owner* of the element is the holder whose
// free bits are all zero; a bit is free if its basis depends linearly on the others (see `Layout::free_variables`).
// Ops that must happen once happen in the owners, and only the owners get the results. `replicate` passes them on to
// the other holders.

def NvTileAS_ReplicateOp : NvTileAS_Op<"replicate", NvTileAA_Collective, [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "copies the value of each element from its owner to all of its holders";
  let description = [{
    If the owners are the only holders, the op is the identity. `tileas-materialize-convert-layout` lowers it to
    shuffles within warps, and to shared memory across warps.
  }];
  let arguments = (ins NvTileAS_Tensor:$source);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

//===-- atomic updates ------------------------------------------------------//
// These ops act on each element separately, in no particular order among elements; `ordering` and `scope` apply to
// each update. Masked-off elements are not accessed. An `addf` on f32 flushes subnormals to zero, as the memory unit
// does.

def NvTileAS_AtomicRmwOp : NvTileAS_Op<"atomic_rmw", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal, NvTileAA_WritesGlobal]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic read-modify-write through pointers, at most `vector` adjacent elements along `along` at a time";
  let description = "Returns the old values, in the owners of the elements; unspecified where the mask is false.";
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
  let summary = "atomic compare-and-swap through pointers; the comparison is bitwise, also for floats";
  let description = "Returns the old values, in the owners of the elements, and `compare` where the mask is false.";
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
  let description = "Elements outside the memref are not accessed.";
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
// A multicast address denotes one location in each of several memories. Two reads of it may combine the memories
// in different orders, so copies of an element could differ. Therefore only the owner of an element reads it.

def NvTileAS_MultimemLoadReduceOp : NvTileAS_Op<"multimem_load_reduce", NvTileAA_Access, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "reads and combines one tile of a multicast view in all memories, at most `vector` elements at a time";
  let description = "Returns the result in the owners of the elements.";
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
  let summary = "atomic update of one tile of a multicast view in each memory, at most `vector` elements at a time";
  let description = "Elements outside the memref are not accessed.";
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
  let summary = "writes one tile of a multicast view in each memory, at most `vector` elements at a time";
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
  let summary = "allocates memory on the device heap, in one thread of the CTA; traps if the heap is exhausted";
  let description = "The result's only element is the address, a multiple of 16 bytes, held by its owner.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs NvTileAS_Tensor:$result);
  let assemblyFormat = "$bytes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_HeapFreeOp : NvTileAS_Op<"heap_free", NvTileAA_Program, [MemoryEffects<[NvTileAA_FreesGlobal]>]> {
  let summary = "returns memory to the heap, once per CTA; no thread may still use it";
  let arguments = (ins NvTileAA_PtrType:$ptr);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr)";
}

//===-- debugging -----------------------------------------------------------//

def NvTileAS_ExternCallOp : NvTileAS_Op<"extern_call", NvTileAA_Transfer,
    [AttrSizedOperandSegments, NvTileAA_TouchesAll]> {
  let summary = "call of a function of a tile library by the threads of a CTA";
  let description = [{
    As in `nv_tileaa`. `tileas-materialize-convert-layout` moves the arguments to shared memory: `storage` then replaces
    arguments and results. It has a piece for each fragment, whose elements are in column-major order unless the
    fragment is in shared memory itself, and one more for scratch memory. Only writes are declared: threads that share
    elements are synchronized by the function.
  }];
  let arguments = (ins StrAttr:$symbol, TypeArrayAttr:$fragments, DenseI32ArrayAttr:$access, I64Attr:$scratchSize,
      I64Attr:$scratchAlignment, I32Attr:$synchronization, Variadic<NvTileAS_Tensor>:$args,
      NvTileAS_DestStorage<Variadic<NvTileAS_MemDescType>>:$storage, Optional<NvTileAA_MemTokenType>:$token);
  let results = (outs Variadic<NvTileAS_Tensor>:$results, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $symbol `(` $args `)` (`storage` $storage^ `:` type($storage))? (`token` $token^)? attr-dict
    `:` functional-type($args, $results)
  }];
}

def NvTileAS_PrintOp : NvTileAS_SyncOp<"print", NvTileAA_Program, NvTileAA_SyncScratchAndMeet,
    NvTileAA_ScopeAgent, [AttrSizedOperandSegments,
    MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "printf-like output by one thread of the CTA";
  let description = [{
    A tensor prints its elements in row-major order, in nested brackets. They reach the printing thread through
    `scratch`: one piece of shared memory per tensor argument, in order, which `tileas-materialize-convert-layout`
    allocates. An op with scratch contains a barrier of all threads of the CTA before its first access of the scratch
    and one after its last.
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
