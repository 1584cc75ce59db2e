// Copies of tiles by the tensor memory accelerator. Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_TMA_OPS_TD
#define NV_TILEAS_TMA_OPS_TD

def NvTileAS_MakeTiledTmaDescOp : NvTileAS_Op<"make_tiled_tma_desc", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>, AttrSizedOperandSegments]> {
  let summary = "tensor map of a view, found in a table of the device or built there";
  let description = [{
    Maps are interned in a table in global memory, by base address, extents and strides: they outlive the kernel, and a
    second launch finds them. The first warp of the agent, or else of the block, does the work; the result is valid in its
    threads. Where the table is full, a map is borrowed until the kernel ends. `scratch` holds 128 bytes, in which a map is
    built before it is copied to the table.

    A view that a loop makes has another map each time, and a borrowed one is written over: then the copies by the map
    before must be done. They fill stages of `pipelines`, up to those of `iterators`; the agent is the one that fills
    them.

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
  let summary = "whether a view lies in memory as a tensor map can say";
  let description = [{
    True if the base address is a multiple of 16 bytes, and the strides along all dimensions of the map but the first are
    multiples of 16 bytes below 2^40. The stride along the first is known to be one element. The answer is the same in all
    threads. A map of another view must not be made: where that is not known when compiling, `make_tiled_tma_desc` and the
    copies stand in a branch.

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
  let summary = "start copying one tile of a view to shared memory";
  let description = [{
    Stands in `elect`. As many boxes as the tile takes; they arrive at the barrier of the token's stage, which counts their
    bytes. `indices` number tiles, as those of `tiled_load` do. Elements outside of the view are filled as `desc` says. A
    map of tf32 rounds elements of f32 to the nearest, ties to even, as it copies them.
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices, NvTileAS_TmaDescType:$desc,
      NvTileAS_ProxyDestStorage<NvTileAS_MemDescType>:$dest, NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = [{
    $view `[` $indices `]` `by` $desc `into` $dest `arrive` $token attr-dict
    `:` type($view) `[` type($indices) `]` `,` type($desc) `->` type($dest)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncTiledTmaStoreOp : NvTileAS_Op<"async.tiled_tma_store", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_WritesGlobalAsyncProxy, NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "start copying a tile from shared memory to a view";
  let description = [{
    The first thread of the agent, or else of the block, does it: as many boxes as the tile takes, which become a group.
    `source` is read until `async.tma_store_wait`. What threads have stored there is seen when each of them has executed
    `async.fence` and all have met at a barrier. `indices` number tiles, as those of `tiled_store` do. Elements outside of
    the view are not written. Nothing but a wait orders other accesses of global memory behind it.

    ```mlir
    nv_tileas.local_store %x, %s vector 8 : tensor<128x256xbf16, #l>, !s
    nv_tileas.async.fence
    nv_tileas.barrier
    nv_tileas.async.tiled_tma_store %s to %view[%i, %j] by %map : !s -> !view[i32, i32], !map
    nv_tileas.async.tma_store_wait %s : !s
    ```
  }];
  let arguments = (ins NvTileAS_ProxySourceStorage<NvTileAS_MemDescType>:$source, NvTileAA_TiledViewType:$view,
      Variadic<AnyType>:$indices, NvTileAS_TmaDescType:$desc);
  let assemblyFormat = [{
    $source `to` $view `[` $indices `]` `by` $desc attr-dict
    `:` type($source) `->` type($view) `[` type($indices) `]` `,` type($desc)
  }];
  let hasVerifier = 1;
}

def NvTileAS_AsyncTmaStoreWaitOp : NvTileAS_Op<"async.tma_store_wait", NvTileAA_Program, [NvTileAA_TouchesAll]> {
  let summary = "wait until the tiles that this agent copies to views have been written";
  let description = [{
    All of `async.tiled_tma_store` before it. With `read`, only until shared memory has been read: then `sources` may be
    written again, and what lies in the views is there when the kernel has ended. Only the thread that started the copies
    waits, so others need a barrier behind it.
  }];
  let arguments = (ins Variadic<NvTileAS_MemDescType>:$sources, UnitAttr:$read);
  let assemblyFormat = "($sources^)? (`read` $read^)? attr-dict (`:` type($sources)^)?";
}

#endif
