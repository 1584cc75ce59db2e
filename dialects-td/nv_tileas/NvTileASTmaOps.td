// Copies of tiles by the tensor memory accelerator. Included by NvTileASOps.td, whose classes they use.
#ifndef NV_TILEAS_TMA_OPS_TD
#define NV_TILEAS_TMA_OPS_TD

def NvTileAS_MakeTiledTmaDescOp : NvTileAS_Op<"make_tiled_tma_desc", NvTileAA_Program,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "tensor map of a view, found in a table of the device or built there";
  let description = [{
    Maps are interned in a table in global memory, by base address, extents and strides: they outlive the kernel, and a
    second launch finds them. The first warp of the agent, or else of the block, does the work; the result is valid in its
    threads. Where the table is full, a map is borrowed until the kernel ends. `scratch` holds 128 bytes, in which a map is
    built before it is copied to the table.
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, NvTileAS_DestStorage<NvTileAS_MemDescType>:$scratch);
  let results = (outs NvTileAS_TmaDescType:$desc);
  let assemblyFormat = "$view `scratch` $scratch attr-dict `:` type($view) `,` type($scratch) `->` type($desc)";
  let hasVerifier = 1;
}

def NvTileAS_AsyncTiledTmaLoadOp : NvTileAS_Op<"async.tiled_tma_load", NvTileAA_FixedLayouts,
    [MemoryEffects<[NvTileAA_ReadsMachine, NvTileAA_WritesMachine]>]> {
  let summary = "start copying one tile of a view to shared memory";
  let description = [{
    Stands in `elect`. As many boxes as the tile takes; they arrive at the barrier of the token's stage, which counts their
    bytes. `indices` number tiles, as those of `tiled_load` do. Elements outside of the view are filled as `desc` says.
  }];
  let arguments = (ins NvTileAA_TiledViewType:$view, Variadic<AnyType>:$indices, NvTileAS_TmaDescType:$desc,
      NvTileAS_ProxyDestStorage<NvTileAS_MemDescType>:$dest, NvTileAS_ProducerTokenType:$token);
  let assemblyFormat = [{
    $view `[` $indices `]` `by` $desc `into` $dest `arrive` $token attr-dict
    `:` type($view) `[` type($indices) `]` `,` type($desc) `->` type($dest)
  }];
  let hasVerifier = 1;
}

#endif
