// Asynchronous copies of nv_tileas, and views of multi-stage storage.
#ifndef NV_TILEAS_ASYNC_OPS_TD
#define NV_TILEAS_ASYNC_OPS_TD

include "nv_tileas/NvTileASOps.td"

//===-- views of storage: the same bytes with another type -------------------//

def NvTileAS_MemDescSlotOp : NvTileAS_Op<"memdesc_slot", NvTileAA_Address, [Pure], "slot"> {
  let summary = "one stage of multi-stage storage";
  let description = [{
    `index` is the stage, counted from zero, and is uniform over all threads. The result is undefined if it is out of
    range.
  }];
  let arguments = (ins NvTileAS_MemDescType:$source, I32:$index);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescViewOp : NvTileAS_Op<"memdesc_view", NvTileAA_Address, [Pure]> {
  let summary = "the same elements in row-major order in another shape";
  let arguments = (ins NvTileAS_MemDescType:$source);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescPermuteOp : NvTileAS_Op<"memdesc_permute", NvTileAA_Address, [Pure]> {
  let summary = "reorders the dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins NvTileAS_MemDescType:$source, DenseI32ArrayAttr:$order);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescReinterpretOp : NvTileAS_Op<"memdesc_reinterpret", NvTileAA_Address, [Pure]> {
  let summary = "the same bytes with another element type, shape, layout or number of stages";
  let description = [{
    The element width does not change. Each stage of the result takes as many bytes as a stage of the source, and
    stages are consecutive. In tensor memory, elements may be narrower: the tile then takes the first columns.
  }];
  let arguments = (ins NvTileAS_MemDescType:$source);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===-- copies from global to shared memory ----------------------------------//

def NvTileAS_AsyncTiledLoadOp
    : NvTileAS_Op<"async.tiled_load", NvTileAA_FixedLayouts, [AttrSizedOperandSegments,
          MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "issues an asynchronous copy of one tile of a view to shared memory";
  let description = [{
    Each thread copies the elements that `layout` assigns to it, `vector` at a time. Elements outside the view become
    zero. Nothing is copied if `predicate` is false. The copied bytes are visible to the copying thread after its wait
    for a group that contains the token, and to other threads after a barrier that follows this wait.
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      NvTileAS_DestStorage<NvTileAS_MemDescType>:$dest, Optional<I1>:$predicate, Optional<NvTileAA_MemTokenType>:$token,
      OptionalAttr<DictionaryAttr>:$hints,
      NvTileAS_LayoutAttr:$layout, ConfinedAttr<I64Attr, [IntPositive]>:$vector, NvTileAS_BoundsAttr:$bounds,
      OptionalAttr<DenseBoolArrayAttr>:$inBounds);
  let results = (outs NvTileAS_AsyncTokenType:$done, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $view `[` $indices `]` `into` $dest (`if` $predicate^)? (`token` $token^)? (`hints` $hints^)?
    `layout` $layout `vector` $vector `bounds` $bounds (`in_bounds` $inBounds^)? attr-dict
    `:` type($view) `[` type($indices) `]` `->` type($dest)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncLoadOp
    : NvTileAS_Op<"async.load", NvTileAA_FixedLayouts, [AttrSizedOperandSegments,
          MemoryEffects<[NvTileAA_ReadsGlobal]>]> {
  let summary = "issues an asynchronous copy through pointers to shared memory";
  let description = [{
    Like `async.tiled_load`, but copies `vector` adjacent elements along dimension `along` at a time, in the layout of
    the pointers. Elements whose mask is false become zero.
  }];
  let arguments = (ins NvTileAS_Tensor:$ptr, Optional<NvTileAS_Tensor>:$mask,
      NvTileAS_DestStorage<NvTileAS_MemDescType>:$dest, Optional<I1>:$predicate, Optional<NvTileAA_MemTokenType>:$token,
      OptionalAttr<DictionaryAttr>:$hints,
      ConfinedAttr<I64Attr, [IntPositive]>:$vector, DefaultValuedAttr<I64Attr, "0">:$along);
  let results = (outs NvTileAS_AsyncTokenType:$done, NvTileAA_MemTokenType:$resultToken);
  let assemblyFormat = [{
    $ptr (`mask` $mask^ `:` type($mask))? `into` $dest (`if` $predicate^)? (`token` $token^)? (`hints` $hints^)?
    `vector` $vector (`along` $along^)? attr-dict `:` type($ptr) `->` type($dest)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncCommitOp : NvTileAS_SyncOp<"async.commit", NvTileAA_Program, NvTileAA_SyncCommit, NvTileAA_ScopeThread,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "commits a group of asynchronous copies; groups complete in order";
  let description = "The keyword `of` disambiguates an empty list of copies from the results of the next op.";
  let arguments = (ins Variadic<NvTileAS_AsyncTokenType>:$copies);
  let results = (outs NvTileAS_AsyncTokenType:$group);
  let assemblyFormat = "(`of` $copies^)? attr-dict";
}

def NvTileAS_AsyncWaitOp : NvTileAS_SyncOp<"async.wait", NvTileAA_Program, NvTileAA_SyncWait,
    NvTileAA_ScopeThread, [NvTileAA_TouchesAll]> {
  let summary = "waits until at most `pending` of this thread's groups are in flight";
  let description = [{
    `groups` names the groups to wait for; `pending` is the number of groups that may have been committed after all of
    them.
  }];
  let arguments = (ins Variadic<NvTileAS_AsyncTokenType>:$groups,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$groups `pending` $pending attr-dict";
}

def NvTileAS_AsyncFenceOp : NvTileAS_Op<"async.fence", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "orders this thread's shared memory accesses before accesses of the async proxy";
  let description = [{
    Warpgroup dots and TMA copies access shared memory through the async proxy. They observe the stores of threads
    once each storing thread has executed a fence and a barrier has then synchronized these threads with the issuing
    thread.

    ```mlir
    nv_tileas.local_store %x, %a vector 8 : tensor<64x64xf16, #l>, !a
    nv_tileas.async.fence
    nv_tileas.barrier
    %r = nv_tileas.async.dot %a, %b, %acc by <warpgroup, [64, 256, 16]> : !a, !b, tensor<64x256xf32, #c>
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def NvTileAS_AsyncCreateNoneOp : NvTileAS_Op<"async.create_none", NvTileAA_Program, [Pure]> {
  let summary = "a token of no work, which is complete from the start";
  let results = (outs NvTileAS_AsyncTokenType:$token);
  let assemblyFormat = "attr-dict";
}

#endif
