// Asynchronous copies of nv_tileas, and views of storage with stages.
#ifndef NV_TILEAS_ASYNC_OPS_TD
#define NV_TILEAS_ASYNC_OPS_TD

include "nv_tileas/NvTileASOps.td"

//===-- views of storage: the same bytes under another type ------------------//

def NvTileAS_MemDescSlotOp : NvTileAS_Op<"memdesc_slot", NvTileAA_Address, [Pure]> {
  let summary = "one stage of a storage with stages";
  let description = [{
    `index` counts stages from zero and is the same in all threads; outside of the storage the result is undefined.
  }];
  let arguments = (ins NvTileAS_MemDescType:$source, I32:$index);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescViewOp : NvTileAS_Op<"memdesc_view", NvTileAA_Address, [Pure]> {
  let summary = "same elements in row-major order under another shape";
  let arguments = (ins NvTileAS_MemDescType:$source);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescPermuteOp : NvTileAS_Op<"memdesc_permute", NvTileAA_Address, [Pure]> {
  let summary = "reorder dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins NvTileAS_MemDescType:$source, DenseI32ArrayAttr:$order);
  let results = (outs NvTileAS_MemDescType:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def NvTileAS_MemDescReinterpretOp : NvTileAS_Op<"memdesc_reinterpret", NvTileAA_Address, [Pure]> {
  let summary = "the same bytes as another tensor: element type, shape, layout and number of stages may differ";
  let description = [{
    Elements are as wide as before. Each stage of the result takes as many bytes, one stage after another.
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
  let summary = "start copying one tile of a view to shared memory";
  let description = [{
    Each thread copies the elements that `layout` gives it, `vector` at a time. Elements outside the view become
    zero. Nothing is copied where `predicate` is false. The bytes are in place once a wait for a group that the token
    belongs to has returned in the thread that copies them, and a barrier has told the others.
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
  let summary = "start copying through pointers to shared memory";
  let description = [{
    As `async.tiled_load`: `vector` neighbours along dimension `along` at a time, in the layout of the pointers.
    Elements whose mask is false become zero.
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
  let summary = "close a group of asynchronous copies; groups complete in order";
  let description = "The keyword `of` sets the copies apart from the results of the next op, where there are none.";
  let arguments = (ins Variadic<NvTileAS_AsyncTokenType>:$copies);
  let results = (outs NvTileAS_AsyncTokenType:$group);
  let assemblyFormat = "(`of` $copies^)? attr-dict";
}

def NvTileAS_AsyncWaitOp : NvTileAS_SyncOp<"async.wait", NvTileAA_Program, NvTileAA_SyncWait,
    NvTileAA_ScopeThread, [NvTileAA_TouchesAll]> {
  let summary = "wait until at most `pending` groups are under way: this thread's copies of the older ones are done";
  let description = [{
    `groups` names what is waited for; `pending` is the number of groups that may have been closed after all of them.
  }];
  let arguments = (ins Variadic<NvTileAS_AsyncTokenType>:$groups,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$groups `pending` $pending attr-dict";
}

def NvTileAS_AsyncFenceOp : NvTileAS_Op<"async.fence", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "order this thread's accesses of shared memory before those of asynchronous units";
  let description = [{
    Products of warpgroups and tensor copies access memory by a proxy of their own. What threads have stored is seen by
    them when each of these threads has executed a fence, and then a barrier has told the thread that starts them.

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
  let summary = "a token of no work at all: what waits for it need not wait";
  let results = (outs NvTileAS_AsyncTokenType:$token);
  let assemblyFormat = "attr-dict";
}

#endif
