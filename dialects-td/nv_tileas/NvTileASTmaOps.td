// TMA copies of tiles. Included by NvTileASOps.td, which defines their classes.
#ifndef NV_TILEAS_TMA_OPS_TD
#define NV_TILEAS_TMA_OPS_TD

def NvTileAS_MakeTiledTmaDescOp : NvTileAS_Op<"make_tiled_tma_desc", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>, AttrSizedOperandSegments], "map"> {
  let summary = "gets the tensor map of a view from a table on the device, or builds it";
  let description = [{
    Maps are interned in a table in global memory by base address, extents and strides. They outlive the kernel, so a
    second launch finds them. The first warp of the agent does the work, or the first warp of the CTA outside agents,
    and the result is valid in this warp's threads. If the table is full, a map is borrowed until the kernel ends.
    `scratch` is 128 bytes of shared memory, in which a map is built before it is copied to the table.

    A view in a loop may need another map in each iteration, which overwrites a borrowed map. The copies through the
    previous map must therefore be complete. They fill stages of `pipelines`, up to the stages of `iterators`; the op
    is in the agent that fills them.

    ```mlir
    %map = nv_tileas.make_tiled_tma_desc %view scratch %s behind %pipeline at %it : !pipeline : !view, !memory -> !map
    ```
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, NvTileAS_DestStorage<NvTileAS_MemDescType>:$scratch,
      Variadic<NvTileAS_PipelineType>:$pipelines, Variadic<NvTileAS_PipelineIteratorType>:$iterators);
  let results = (outs NvTileAS_TmaDescType:$desc);
  let assemblyFormat = [{
    $view `scratch` $scratch (`behind` $pipelines^ `at` $iterators `:` type($pipelines))? attr-dict
    `:` type($view) `,` type($scratch) `->` type($desc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_TmaReadyOp : NvTileAS_Op<"tma_ready", NvTileAA_Address, [Pure]> {
  let summary = "whether a tensor map can describe the view";
  let description = [{
    True if the base address is a multiple of 16 bytes, and all strides except the first are multiples of 16 bytes
    below 2^40. The stride along the first dimension of the map is known to be one element. The result is uniform over
    all threads. A map of any other view must not be built: if the condition is not known at compile time,
    `make_tiled_tma_desc` and the copies are placed in a branch.

    ```mlir
    %ready = nv_tileas.tma_ready %view for !map : !view
    scf.if %ready { %map = nv_tileas.make_tiled_tma_desc %view ... } else { ... }
    ```
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, TypeAttrOf<NvTileAS_TmaDescType>:$desc);
  let results = (outs I1:$ready);
  let assemblyFormat = "$view `for` $desc attr-dict `:` type($view)";
  let hasVerifier = 1;
}

def NvTileAS_AsyncTiledTmaLoadOp : NvTileAS_Op<"async.tiled_tma_load", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "issues a TMA load of one tile of a view to shared memory";
  let description = [{
    The op is in an `elect` region. It copies as many boxes as the tile takes; they arrive at the barrier of the
    token's stage, which counts their bytes. `indices` number tiles, as in `tiled_load`. Out-of-bounds elements are
    filled as `desc` specifies. A tf32 map rounds f32 elements to nearest even as it copies them.
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices, NvTileAS_TmaDescType:$desc,
      NvTileAS_ProxyDestStorage<NvTileAS_MemDescType>:$dest, NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = [{
    $view `[` $indices `]` `by` $desc `into` $dest `arrive` $token attr-dict
    `:` type($view) `[` type($indices) `]` `,` type($desc) `->` type($dest)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncBulkLoadOp : NvTileAS_Op<"async.bulk_load", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "issues bulk copies of one tile of a view to shared memory";
  let description = [{
    As `async.tiled_tma_load`, without a tensor map: the tile is inside the view, and consists of parts of at least 16
    bytes that are contiguous in memory and in shared memory. One instruction copies each part.

    ```mlir
    nv_tileas.async.bulk_load %view[%i, %k] into %slot arrive %token : !view[i32, i32] -> !nv_tileas.memdesc<1x512xi8, #s>
    ```
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices,
      NvTileAS_ProxyDestStorage<NvTileAS_MemDescType>:$dest, NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = [{
    $view `[` $indices `]` `into` $dest `arrive` $token attr-dict `:` type($view) `[` type($indices) `]` `->` type($dest)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncTiledTmaStoreOp : NvTileAS_Op<"async.tiled_tma_store", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesGlobalAsyncProxy, NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "issues a TMA store of a tile from shared memory to a view";
  let description = [{
    The first thread of the agent, or of the CTA outside agents, copies as many boxes as the tile takes and commits
    them as a group. With `counted` it commits a group even if it copies nothing, so that waits can count groups.
    `source` is read until `async.tma_store_wait`. The stores of threads to `source` are visible to
    the copy after each of these threads has executed `async.fence` and all have then met at a barrier. `indices`
    number tiles, as in `tiled_store`. Out-of-bounds elements are not written. Only a wait orders the copy before
    later accesses of global memory.

    ```mlir
    nv_tileas.local_store %x, %s vector 8 : tensor<128x256xbf16, #l>, !s
    nv_tileas.async.fence
    nv_tileas.barrier
    nv_tileas.async.tiled_tma_store %s to %view[%i, %j] by %map : !s -> !view[i32, i32], !map
    nv_tileas.async.tma_store_wait %s : !s
    ```
  }];
  let arguments = (ins NvTileAS_ProxySourceStorage<NvTileAS_MemDescType>:$source, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, NvTileAS_TmaDescType:$desc, UnitAttr:$counted);
  let assemblyFormat = [{
    $source `to` $view `[` $indices `]` `by` $desc (`counted` $counted^)? attr-dict
    `:` type($source) `->` type($view) `[` type($indices) `]` `,` type($desc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncTmaStoreWaitOp : NvTileAS_Op<"async.tma_store_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "waits until at most `pending` of this agent's TMA stores are in flight";
  let description = [{
    Waits for all earlier `async.tiled_tma_store` ops but the last `pending`, which is 0 by default. Other stores must
    be `counted` if it is not 0. With `read`, it waits only until shared memory has been read:
    `sources` may then be overwritten, but the tiles in global memory are only guaranteed to be written at the end of
    the kernel. Only the thread that issued the stores waits, so other threads need a barrier after the op.
  }];
  let arguments = (ins Variadic<NvTileAS_MemDescType>:$sources, UnitAttr:$read,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$pending);
  let assemblyFormat = "($sources^)? (`read` $read^)? (`pending` $pending^)? attr-dict (`:` type($sources)^)?";
}

#endif
